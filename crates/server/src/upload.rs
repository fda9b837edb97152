//! Uploads: files that come as parts of a form. They are stored as they come, behind the gate, and stand in what follows
//! as a list with their digests: an upload is never held in memory, and one that is too long is refused before it is read.

use std::sync::Arc;
use std::time::Duration;

use actix_web::web::Payload;
use bytes::Bytes;
use futures::{Stream, StreamExt as _, stream};
use heddle_api::decode::read_json;
use heddle_api::wire::envelope::JsonObject;
use heddle_api::wire::vector_files::StagedFile;
use heddle_api::{ApiError, Detail, ErrorCode};
use heddle_edge::Pace;
use heddle_kernel::TenantId;
use heddle_vectors::ports::{BlobError, Blobs as _, ByteStream, StoredBlob};
use multer::{Constraints, Field, Multipart, SizeLimit};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{OnceCell, mpsc};
use tokio::time::Instant;

use crate::app::App;
use crate::failure::Failure;

/// Pieces of a body that wait to be stored: the sender waits behind them.
const PIECES: usize = 4;
/// Bytes that boundaries and headers of the parts may have, for each file.
const OVERHEAD: u64 = 16 * 1024;
/// The most bytes of a title as it is sent.
const TITLE_BYTES: usize = 4 * 1024;

/// Piece of a body, or the failure that ended it.
type Piece = Result<Bytes, Failure>;

/// Files of a request that are still to come, or were stored.
#[derive(Clone)]
pub(crate) struct Upload(Arc<Inner>);

struct Inner {
    boundary: String,
    pieces: Mutex<Option<mpsc::Receiver<Piece>>>,
    staged: OnceCell<Staged>,
    /// Keys of all that was stored, also of what is wanted no more.
    kept: Mutex<Vec<String>>,
}

/// Files that were stored.
#[derive(Debug, Clone)]
pub(crate) struct Staged {
    /// List of the files, as the operation reads it.
    pub body: Bytes,
    /// The same without the keys, which each upload has of its own: a repeat is told by it.
    pub identity: Bytes,
}

/// The most bytes of a form of files.
pub(crate) fn most_bytes(app: &App) -> u64 {
    let bounds = app.config.vectors.bounds;
    let files = u64::from(bounds.files);
    bounds.file_bytes.saturating_mul(files).saturating_add(OVERHEAD.saturating_mul(files + 1))
}

impl Upload {
    /// Begins to take a body in. What it brings waits until [`Self::stage`] stores it.
    ///
    /// # Errors
    /// 400 without a boundary.
    pub(crate) fn begin(content_type: Option<&str>, pace: Pace, payload: Payload) -> Result<Self, Failure> {
        let boundary = multer::parse_boundary(content_type.unwrap_or_default()).map_err(|error| {
            Failure::at("Content-Type", "malformed", format!("The form has no boundary: {error}."))
        })?;
        let (sender, pieces) = mpsc::channel(PIECES);
        // The payload belongs to the thread that serves the connection.
        actix_web::rt::spawn(take(payload, pace, sender));
        let (pieces, kept) = (Mutex::new(Some(pieces)), Mutex::default());
        Ok(Self(Arc::new(Inner { boundary, pieces, staged: OnceCell::new(), kept })))
    }

    /// Stores the files, once; whoever asks again gets the same.
    ///
    /// # Errors
    /// 400 for a form that is none, or has other parts; 413 beyond the limits; 503 when the store of files does not answer.
    pub(crate) async fn stage(&self, app: &App, tenant: TenantId) -> Result<Staged, Failure> {
        self.0.staged.get_or_try_init(|| self.read(app, tenant)).await.cloned()
    }

    /// Removes what was stored: the call did not take it.
    pub(crate) async fn discard(&self, app: &App, tenant: TenantId) {
        let kept = std::mem::take(&mut *self.0.kept.lock());
        discard(app, tenant, &kept).await;
    }

    async fn read(&self, app: &App, tenant: TenantId) -> Result<Staged, Failure> {
        let Some(pieces) = self.0.pieces.lock().take() else {
            return Err(Failure::internal("the parts of an upload were asked for twice"));
        };
        let fault: Fault = Arc::default();
        let limits = Constraints::new().size_limit(SizeLimit::new().whole_stream(most_bytes(app)));
        let body = bodies(pieces, Arc::clone(&fault));
        let mut form =
            Form { app, tenant, fault, kept: &self.0.kept, files: Vec::new(), metadata: None, title: None };
        let mut parts = Multipart::with_constraints(body, self.0.boundary.clone(), limits);
        loop {
            let field = parts.next_field().await.map_err(|error| failed(&form.fault, error))?;
            let Some(field) = field else { break };
            form.take(field).await?;
        }
        form.staged()
    }
}

/// Removes stored files that no call took; what can't be removed now is removed by the sweep.
pub(crate) async fn discard(app: &App, tenant: TenantId, keys: &[String]) {
    for key in keys {
        if let Err(error) = app.blobs.delete(tenant, key).await {
            tracing::debug!(%error, "a file that no call took is removed later");
        }
    }
}

/// Failure of a body, put aside while the reader of the form tells it as its own.
type Fault = Arc<Mutex<Option<Failure>>>;

/// Sign that the body ended with a failure.
#[derive(Debug, thiserror::Error)]
#[error("the body ended with a failure")]
struct Broken;

/// Takes a body in at the least pace. The time that it waits to be stored is not the sender's.
async fn take(mut payload: Payload, pace: Pace, sender: mpsc::Sender<Piece>) {
    let (mut bytes, mut waited) = (0, Duration::ZERO);
    loop {
        let begin = Instant::now();
        let deadline = pace.deadline(begin, bytes).checked_sub(waited).unwrap_or(begin);
        let piece = match tokio::time::timeout_at(deadline, payload.next()).await {
            Ok(Some(Ok(chunk))) => Ok(chunk),
            Ok(Some(Err(error))) => Err(Failure::at("body", "incomplete", error.to_string())),
            Ok(None) => return,
            Err(_elapsed) => Err(too_slow(pace)),
        };
        waited += begin.elapsed();
        let is_over = piece.is_err();
        bytes += piece.as_ref().map_or(0, Bytes::len);
        // Nobody takes the rest of a call that was refused.
        if sender.send(piece).await.is_err() || is_over {
            return;
        }
    }
}

/// The body as the reader of the form takes it.
fn bodies(
    pieces: mpsc::Receiver<Piece>,
    fault: Fault,
) -> impl Stream<Item = Result<Bytes, Broken>> + Send + 'static {
    stream::unfold((pieces, fault), |(mut pieces, fault)| async move {
        let piece = match pieces.recv().await? {
            Ok(chunk) => Ok(chunk),
            Err(failure) => {
                *fault.lock() = Some(failure);
                Err(Broken)
            }
        };
        Some((piece, (pieces, fault)))
    })
}

/// Failure of a form: that of its body, or what is wrong with its parts.
fn failed(fault: &Fault, error: multer::Error) -> Failure {
    if let Some(failure) = fault.lock().take() {
        return failure;
    }
    match error {
        multer::Error::StreamSizeExceeded { limit } | multer::Error::FieldSizeExceeded { limit, .. } => {
            too_large(limit)
        }
        other => Failure::at("body", "malformed", format!("The form can't be read: {other}.")),
    }
}

/// Failure of the store of files.
pub(crate) fn unstored(error: BlobError) -> Failure {
    match error {
        BlobError::TooLarge { most } => {
            let message = format!("A file may have {most} bytes.");
            let detail = Detail::at("file", "tooLarge", message).with("limit", most);
            ApiError::because(ErrorCode::PayloadTooLarge, detail).into()
        }
        BlobError::Interrupted(why) => Failure::at("body", "incomplete", why),
        BlobError::Missing => Failure::internal("a file was gone while it was stored"),
        BlobError::Unavailable(cause) => {
            let detail =
                Detail::new("blobStoreUnavailable", "The store of files does not answer or is full.");
            let error = ApiError::because(ErrorCode::DependencyUnavailable, detail);
            Failure { cause: Some(cause), retry_after: Some(5), ..error.into() }
        }
    }
}

/// A body that is longer than so many bytes.
pub(crate) fn too_large(limit: u64) -> Failure {
    let message = format!("The body may have {limit} bytes.");
    let detail = Detail::new("tooLarge", message).with("limit", limit);
    ApiError::because(ErrorCode::PayloadTooLarge, detail).into()
}

/// Refusal of a body that comes slower than the least pace.
pub(crate) fn too_slow(pace: Pace) -> Failure {
    let (seconds, rate) = (pace.grace.as_secs(), pace.bytes_per_second);
    let message = format!("A body has {seconds} s, and a second more for each {rate} bytes that have come.");
    let detail = Detail::at("body", "tooSlow", message)
        .with("slowClientSeconds", seconds)
        .with("slowClientBytesPerSecond", rate);
    ApiError::because(ErrorCode::InvalidRequestBody, detail).into()
}

/// Refusal of more files than an upload may have.
pub(crate) fn too_many(most: u32) -> Failure {
    let message = format!("An upload may have {most} files.");
    let detail = Detail::at("file", "tooMany", message).with("limit", most);
    ApiError::because(ErrorCode::InvalidRequestBody, detail).into()
}

/// A form on its way in.
struct Form<'a> {
    app: &'a App,
    tenant: TenantId,
    fault: Fault,
    kept: &'a Mutex<Vec<String>>,
    files: Vec<(StagedFile, StoredBlob)>,
    metadata: Option<JsonObject>,
    title: Option<String>,
}

impl Form<'_> {
    async fn take(&mut self, field: Field<'static>) -> Result<(), Failure> {
        match field.name() {
            Some("file") => self.file(field).await,
            Some("metadata") => {
                let bounds = self.app.config.vectors.bounds;
                let most = bounds.metadata_bytes.saturating_mul(u64::from(bounds.files));
                let most = usize::try_from(most).unwrap_or(usize::MAX);
                let bytes = self.text("metadata", most, field).await?;
                self.once("metadata", self.metadata.is_some())?;
                self.metadata = Some(object(&bytes)?);
                Ok(())
            }
            Some("title") => {
                let bytes = self.text("title", TITLE_BYTES, field).await?;
                self.once("title", self.title.is_some())?;
                let text = String::from_utf8(bytes).map_err(|error| {
                    Failure::at("title", "malformed", format!("The title is not UTF-8 text: {error}."))
                })?;
                self.title = Some(text);
                Ok(())
            }
            Some(other) => {
                let name: String = other.chars().take(100).collect();
                let message = "A form of files has the parts `file`, `metadata` and `title`.";
                Err(Failure::at(&name, "unknownField", message))
            }
            None => Err(Failure::at("body", "malformed", "A part of the form has no name.")),
        }
    }

    fn once(&self, name: &str, is_there: bool) -> Result<(), Failure> {
        match is_there {
            true => Err(Failure::at(name, "duplicateKey", "The part stands twice.")),
            false => Ok(()),
        }
    }

    /// Stores a file under a key of its own.
    async fn file(&mut self, field: Field<'static>) -> Result<(), Failure> {
        let bounds = self.app.config.vectors.bounds;
        if self.files.len() >= bounds.files as usize {
            return Err(too_many(bounds.files));
        }
        let Some(name) = field.file_name().filter(|name| !name.is_empty()).map(str::to_owned) else {
            return Err(Failure::at("file", "required", "A file needs a name: `filename` of its part."));
        };
        let media_type = field.content_type().map(|media| media.essence_str().to_owned());
        let content = pieces_of(field, Arc::clone(&self.fault));
        let stored = self.app.blobs.put(self.tenant, bounds.file_bytes, content).await;
        let blob = stored.map_err(|error| self.fault.lock().take().unwrap_or_else(|| unstored(error)))?;
        self.kept.lock().push(blob.key.clone());
        let file = StagedFile {
            name,
            media_type,
            bytes: blob.bytes,
            sha256: blob.sha256.clone(),
            key: String::new(),
            title: None,
            metadata: JsonObject::new(),
        };
        self.files.push((file, blob));
        Ok(())
    }

    /// A part that is small.
    async fn text(&self, name: &str, most: usize, mut field: Field<'static>) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        while let Some(chunk) = field.chunk().await.map_err(|error| failed(&self.fault, error))? {
            if bytes.len() + chunk.len() > most {
                let detail = Detail::at(name, "tooLarge", format!("The part may have {most} bytes."));
                return Err(ApiError::because(ErrorCode::PayloadTooLarge, detail.with("limit", most)).into());
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    /// The files with what was sent beside them.
    fn staged(mut self) -> Result<Staged, Failure> {
        if self.files.is_empty() {
            return Err(Failure::at("file", "required", "An upload needs a file."));
        }
        if self.title.is_some() && self.files.len() > 1 {
            let message = "One title can't be that of several files.";
            return Err(Failure::at("title", "notAllowed", message));
        }
        let metadata = self.metadata.take().unwrap_or_default();
        let of_each = self.is_of_each(&metadata);
        for (file, _) in &mut self.files {
            file.title.clone_from(&self.title);
            file.metadata = match (of_each, metadata.get(&file.name)) {
                (false, _) => metadata.clone(),
                (true, Some(Value::Object(own))) => own.clone(),
                (true, _) => JsonObject::new(),
            };
        }
        let (mut files, blobs): (Vec<_>, Vec<_>) = self.files.into_iter().unzip();
        let identity = encoded(&files)?;
        for (file, blob) in files.iter_mut().zip(blobs) {
            file.key = blob.key;
        }
        Ok(Staged { body: encoded(&files)?, identity })
    }

    /// Whether each member of the metadata is a file's name with an object.
    fn is_of_each(&self, metadata: &JsonObject) -> bool {
        let is_file = |name: &str| self.files.iter().any(|(file, _)| file.name == name);
        !metadata.is_empty() && metadata.iter().all(|(name, value)| value.is_object() && is_file(name))
    }
}

/// Pieces of a file for the store.
fn pieces_of(field: Field<'static>, fault: Fault) -> ByteStream {
    Box::pin(stream::unfold(Some((field, fault)), |state| async move {
        let (mut field, fault) = state?;
        match field.chunk().await {
            Ok(None) => None,
            Ok(Some(chunk)) => Some((Ok(chunk), Some((field, fault)))),
            Err(error) => {
                let failure = failed(&fault, error);
                let why = failure.error.message.clone();
                *fault.lock() = Some(failure);
                Some((Err(BlobError::Interrupted(why)), None))
            }
        }
    }))
}

fn encoded(files: &[StagedFile]) -> Result<Bytes, Failure> {
    let text = serde_json::to_vec(files).map_err(|error| Failure::internal(error.to_string()))?;
    Ok(text.into())
}

fn object(bytes: &[u8]) -> Result<JsonObject, Failure> {
    let read = read_json(bytes).map_err(|details| {
        let place = |detail: Detail| Detail { field: Some("metadata".to_owned()), ..detail };
        Failure::from(ApiError::invalid(details.into_iter().map(place).collect()))
    })?;
    match read {
        Value::Object(members) => Ok(members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(Failure::at("metadata", "wrongType", "An object is needed."))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_body_that_breaks_off_is_told_as_such_and_not_as_a_bad_form() {
        let begun = "--x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nabc";
        let broken = Failure::at("body", "incomplete", "the connection is gone");
        // A form reads ahead as far as there is something: the connection breaks behind the head of the part.
        let (sender, pieces) = mpsc::channel(1);
        let fault = Fault::default();
        sender.try_send(Ok(Bytes::from(begun))).unwrap();
        let mut form = Multipart::new(bodies(pieces, Arc::clone(&fault)), "x");
        let field = form.next_field().await.unwrap().unwrap();
        sender.try_send(Err(broken)).unwrap();
        drop(sender);
        let mut content = pieces_of(field, Arc::clone(&fault));
        let mut last = None;
        while let Some(piece) = content.next().await {
            last = Some(piece);
        }
        assert!(matches!(last, Some(Err(BlobError::Interrupted(_)))));
        let told = fault.lock().take().unwrap();
        assert_eq!(told.error.details.first().map(|one| one.reason.as_str()), Some("incomplete"));
    }

    #[test]
    fn metadata_is_an_object() {
        assert!(object(br#"{"year": 2024}"#).is_ok());
        for wrong in ["[]", "1", "{\"a\": 1, \"a\": 2}", "{"] {
            assert!(object(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
