//! Uploads: files that come as parts of a form. They are stored as they come, behind the gate, and stand in what follows
//! as a list with their digests: an upload is never held in memory, and one that is too long, or that the organisation has
//! no room for, is refused before it is read.

use std::sync::Arc;
use std::time::Duration;

use actix_web::error::PayloadError;
use actix_web::web::Payload;
use bytes::Bytes;
use futures::{Stream, StreamExt as _, stream};
use heddle_api::decode::read_json;
use heddle_api::wire::envelope::JsonObject;
use heddle_api::wire::vector_files::StagedFile;
use heddle_api::{ApiError, Detail, ErrorCode};
use heddle_edge::Pace;
use heddle_kernel::TenantId;
use heddle_policy::capability::DocumentCreate;
use heddle_policy::{AuthorizedKindWithin, RequestContext};
use heddle_usecase::hex;
use heddle_vectors::ports::{BlobError, Blobs as _, ByteStream, StoredBlob};
use heddle_vectors::{Come, UPLOAD_TIME, UploadPolicy};
use multer::{Constraints, Field, Multipart, SizeLimit};
use parking_lot::Mutex;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
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
    begun: Instant,
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
    /// Whether the bytes are kept; those of a repeat, whose answer is there already, are not.
    pub is_kept: bool,
}

/// Call that uploads, as the gate has let it in.
#[derive(Clone, Copy)]
pub(crate) struct Uploading<'a> {
    /// The service.
    pub app: &'a App,
    /// Right of the caller.
    pub authorized: &'a AuthorizedKindWithin<DocumentCreate>,
    /// Context of the caller.
    pub context: &'a RequestContext,
    /// Whether there is an answer under the key of the call already: nothing of it is kept.
    pub is_repeat: bool,
}

/// Room for what an upload brings.
enum Room {
    /// As much as the limits leave; what is taken is kept.
    Left(UploadPolicy),
    /// None: of a repeat the digests are enough.
    Repeat,
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
        actix_web::rt::spawn(take(payload, pace, UPLOAD_TIME, sender));
        let (pieces, kept, begun) = (Mutex::new(Some(pieces)), Mutex::default(), Instant::now());
        Ok(Self(Arc::new(Inner { boundary, begun, pieces, staged: OnceCell::new(), kept })))
    }

    /// Stores the files, once; whoever asks again gets the same. Nothing stays where it fails.
    ///
    /// # Errors
    /// 404 without the database, 409 and 503 without room, both before anything is read; 400 for a form that is none, or has
    /// other parts; 413 beyond the limits; 503 when the store of files does not answer.
    pub(crate) async fn stage(&self, call: Uploading<'_>) -> Result<Staged, Failure> {
        let staged = self.0.staged.get_or_try_init(|| self.read(call)).await.cloned();
        if staged.is_err() {
            self.discard(call.app, call.context.tenant()).await;
        }
        staged
    }

    /// Removes what was stored: the call did not take it.
    pub(crate) async fn discard(&self, app: &App, tenant: TenantId) {
        let kept = std::mem::take(&mut *self.0.kept.lock());
        discard(app, tenant, &kept).await;
    }

    async fn read(&self, call: Uploading<'_>) -> Result<Staged, Failure> {
        let Uploading { app, authorized, context, is_repeat } = call;
        let room = match is_repeat {
            true => Room::Repeat,
            false => Room::Left(app.vectors.files.before_upload(authorized, context).await?),
        };
        let Some(pieces) = self.0.pieces.lock().take() else {
            return Err(Failure::internal("the parts of an upload were asked for twice"));
        };
        let fault: Fault = Arc::default();
        let limits = Constraints::new().size_limit(SizeLimit::new().whole_stream(most_bytes(app)));
        let body = bodies(pieces, Arc::clone(&fault));
        let (tenant, kept) = (context.tenant(), &self.0.kept);
        let mut form =
            Form { app, tenant, room, fault, kept, files: Vec::new(), metadata: None, title: None };
        let mut parts = Multipart::with_constraints(body, self.0.boundary.clone(), limits);
        loop {
            let field = parts.next_field().await.map_err(|error| failed(&form.fault, error))?;
            let Some(field) = field else { break };
            form.take(field).await?;
        }
        // Also what came in time and took long to be stored: the sweep may soon take the first of it.
        if self.0.begun.elapsed() >= UPLOAD_TIME {
            return Err(too_long(UPLOAD_TIME));
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

/// Takes a body in at the least pace, and within a time in all. The time that it waits to be stored counts for the latter
/// alone, since it is not the sender's.
async fn take(
    mut payload: impl Stream<Item = Result<Bytes, PayloadError>> + Unpin,
    pace: Pace,
    most: Duration,
    sender: mpsc::Sender<Piece>,
) {
    let end = Instant::now() + most;
    let (mut bytes, mut waited) = (0, Duration::ZERO);
    loop {
        let begin = Instant::now();
        let deadline = pace.deadline(begin, bytes).checked_sub(waited).unwrap_or(begin);
        let piece = match tokio::time::timeout_at(deadline.min(end), payload.next()).await {
            Ok(Some(Ok(_))) | Err(_) if Instant::now() >= end => Err(too_long(most)),
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

/// Failure of the store of files for a file that had so much room: where the quota was the reason, it is told as that.
pub(crate) fn unstored_within(policy: &UploadPolicy, come: Come, error: BlobError) -> Failure {
    match error {
        BlobError::TooLarge { .. } => policy.beyond(come).map_or_else(|| unstored(error), Failure::from),
        BlobError::Interrupted(_) | BlobError::Missing | BlobError::Unavailable(_) => unstored(error),
    }
}

/// Digest and length of a file that is not kept.
async fn digested(most: u64, mut content: ByteStream) -> Result<StoredBlob, BlobError> {
    let (mut digest, mut bytes) = (Sha256::new(), 0_u64);
    while let Some(piece) = content.next().await {
        let piece = piece?;
        bytes = bytes.saturating_add(piece.len() as u64);
        if bytes > most {
            return Err(BlobError::TooLarge { most });
        }
        digest.update(&piece);
    }
    Ok(StoredBlob { key: String::new(), sha256: hex(&digest.finalize()), bytes })
}

/// A body that is longer than so many bytes.
pub(crate) fn too_large(limit: u64) -> Failure {
    let message = format!("The body may have {limit} bytes.");
    let detail = Detail::at("body", "tooLarge", message).with("limit", limit);
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

/// Refusal of an upload that comes for too long in all.
fn too_long(most: Duration) -> Failure {
    let hours = most.as_secs() / 3_600;
    let message = format!("An upload has {hours} hours in all; send the files in several.");
    let detail = Detail::at("body", "tooSlow", message).with("uploadHours", hours);
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
    room: Room,
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
        let media_type = field.content_type().map(ToString::to_string);
        let come = Come {
            files: self.files.len() as u64,
            bytes: self.files.iter().map(|(file, _)| file.bytes).sum(),
        };
        let content = pieces_of(field, Arc::clone(&self.fault));
        let stored = match &self.room {
            Room::Left(policy) => {
                let most = policy.next_file(come)?;
                let stored = self.app.blobs.put(self.tenant, most, content).await;
                stored.map_err(|error| unstored_within(policy, come, error))
            }
            Room::Repeat => digested(bounds.file_bytes, content).await.map_err(unstored),
        };
        let blob = stored.map_err(|failure| self.fault.lock().take().unwrap_or(failure))?;
        if matches!(self.room, Room::Left(_)) {
            self.kept.lock().push(blob.key.clone());
        }
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
        let of_each = self.is_of_each(&metadata)?;
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
        Ok(Staged { body: encoded(&files)?, identity, is_kept: matches!(self.room, Room::Left(_)) })
    }

    /// Whether the members of the metadata are files' names, each with an object: no value of a file's metadata is one.
    fn is_of_each(&self, metadata: &JsonObject) -> Result<bool, Failure> {
        if metadata.is_empty() || !metadata.values().all(Value::is_object) {
            return Ok(false);
        }
        let is_file = |name: &str| self.files.iter().any(|(file, _)| file.name == name);
        let unknown = metadata.keys().filter(|name| !is_file(name)).map(|name| {
            let message =
                "Each member is an object, so it is that of a file; no file of the upload has this name.";
            Detail::at(format!("metadata.{name}"), "unknownField", message)
        });
        let unknown: Vec<Detail> = unknown.collect();
        if unknown.is_empty() { Ok(true) } else { Err(ApiError::invalid(unknown).into()) }
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

    #[tokio::test]
    async fn an_upload_ends_while_the_sweep_still_spares_what_it_brought_first() {
        let pace = Pace { grace: Duration::from_secs(30), bytes_per_second: 1 };
        let first = async |most| {
            let (sender, mut pieces) = mpsc::channel(PIECES);
            take(stream::iter([Ok(Bytes::from_static(b"abc"))]), pace, most, sender).await;
            pieces.recv().await.unwrap()
        };
        assert_eq!(first(UPLOAD_TIME).await.unwrap(), "abc");
        // However fast it comes.
        let refused = first(Duration::ZERO).await.unwrap_err();
        assert_eq!(refused.error.details.first().map(|one| one.reason.as_str()), Some("tooSlow"));
    }

    #[tokio::test]
    async fn a_repeat_is_told_by_digests_that_are_those_of_what_is_kept() {
        let content = |pieces: &'static [&'static [u8]]| -> ByteStream {
            Box::pin(stream::iter(pieces.iter().map(|piece| Ok(Bytes::from_static(piece)))))
        };
        let told = digested(3, content(&[b"ab", b"c"])).await.unwrap();
        let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".to_owned();
        assert_eq!(told, StoredBlob { key: String::new(), sha256, bytes: 3 });
        assert_eq!(digested(2, content(&[b"ab", b"c"])).await, Err(BlobError::TooLarge { most: 2 }));
    }

    #[test]
    fn metadata_is_an_object() {
        assert!(object(br#"{"year": 2024}"#).is_ok());
        for wrong in ["[]", "1", "{\"a\": 1, \"a\": 2}", "{"] {
            assert!(object(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
