//! `document.extract` and `document.chunk`: text out of a file, and passages out of a text. Nothing of it is kept.

use std::sync::Arc;

use async_trait::async_trait;
use heddle_execution::ports::{ServiceCall, ServiceEnd, ServiceFault, ServiceWork};
use heddle_kernel::TenantId;
use heddle_policy::RequestContext;
use heddle_usecase::{Admission, Compute, computed};
use heddle_vectors::UploadBounds;
use heddle_vectors::ports::{
    BlobError, Blobs, ChunkSettings, ChunkedPassage, Chunker, DocumentPart, DocumentText, Embedder,
    ExtractError, Extractor, FileToExtract, Heading,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::arguments::{content, read, refused};

/// Does the kinds `document.extract` and `document.chunk`.
pub struct DocumentNodes {
    blobs: Arc<dyn Blobs>,
    extractor: Arc<dyn Extractor>,
    chunker: Arc<dyn Chunker>,
    embedder: Arc<dyn Embedder>,
    compute: Arc<dyn Compute>,
    bounds: UploadBounds,
}

impl std::fmt::Debug for DocumentNodes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DocumentNodes").field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ExtractSettings {
    name: String,
    media_type: Option<String>,
    text: Option<String>,
    content_base64: Option<String>,
}

/// Settings of cutting that say how: none of them is left out in silence.
const OF_CUTTING: &[&str] = &["methodologyId", "methodologyOptions", "embeddingModelId"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CutSettings {
    text: String,
    title: Option<String>,
    methodology_id: Option<String>,
    methodology_options: Option<Map<String, Value>>,
    embedding_model_id: Option<String>,
}

impl DocumentNodes {
    /// Over the readers of files and the cutting of texts by the tokens of models, within the bounds of an upload.
    #[must_use]
    pub const fn new(
        blobs: Arc<dyn Blobs>,
        extractor: Arc<dyn Extractor>,
        chunker: Arc<dyn Chunker>,
        embedder: Arc<dyn Embedder>,
        compute: Arc<dyn Compute>,
        bounds: UploadBounds,
    ) -> Self {
        Self { blobs, extractor, chunker, embedder, compute, bounds }
    }

    async fn extract(
        &self,
        tenant: TenantId,
        settings: ExtractSettings,
    ) -> Result<DocumentText, ServiceFault> {
        let bytes = content(settings.text, settings.content_base64.as_deref())?;
        let media_type = match settings.media_type {
            Some(media_type) => media_type,
            None => self.type_of(&settings.name)?,
        };
        let stream = Box::pin(futures::stream::iter([Ok(bytes)]));
        let kept = self.blobs.put(tenant, self.bounds.file_bytes, stream).await.map_err(unkept)?;
        let file = FileToExtract {
            tenant,
            blob: kept.key.clone(),
            name: settings.name,
            media_type,
            bytes: kept.bytes,
        };
        let found = self.extractor.extract(&file).await;
        if let Err(error) = self.blobs.delete(tenant, &kept.key).await {
            // The sweep takes it later.
            tracing::debug!(%error, "the bytes of a node's file are not removed yet");
        }
        found.map_err(unread)
    }

    /// Type of a file by the ending of its name.
    fn type_of(&self, name: &str) -> Result<String, ServiceFault> {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_lowercase());
        let types = self.extractor.types();
        let known = ending.and_then(|ending| types.into_iter().find(|one| one.extensions.contains(&ending)));
        known.map(|one| one.media_type).ok_or_else(|| {
            unread(ExtractError::File {
                fault: heddle_vectors::records::FileFault::UnsupportedType,
                message: format!("The type of `{name}` is not known; name it in `mediaType`."),
            })
        })
    }

    /// Fails where there is no embedding model of an id, whose tokens would be sizes.
    async fn knows(&self, context: &RequestContext, model: &str) -> Result<(), ServiceFault> {
        let known = self.embedder.models(context.tenant()).await;
        let known = known.map_err(|error| ServiceFault::Again { message: error.to_string(), after: None })?;
        if known.iter().any(|one| one.model.id == model) {
            return Ok(());
        }
        Err(refused(format!("embeddingModelId: there is no embedding model `{model}`.")))
    }

    async fn chunk(
        &self,
        context: &RequestContext,
        settings: CutSettings,
    ) -> Result<Vec<ChunkedPassage>, ServiceFault> {
        let tenant = context.tenant();
        let usual = || self.chunker.methodologies().into_iter().next().map(|one| one.id).unwrap_or_default();
        let id = settings.methodology_id.unwrap_or_else(usual);
        let options = settings.methodology_options.unwrap_or_default();
        if !self.chunker.methodologies().iter().any(|one| one.id == id) {
            return Err(refused(format!("methodologyId: there is no methodology `{id}`.")));
        }
        let chunking = self.chunker.check(&id, &options).map_err(|faults| {
            let told: Vec<String> =
                faults.into_iter().map(|one| format!("{}: {}", one.path, one.message)).collect();
            refused(format!("methodologyOptions: {}", told.join("; ")))
        })?;
        if let Some(model) = &settings.embedding_model_id {
            self.knows(context, model).await?;
        }
        let most = self.bounds.file_passages;
        let cut = ChunkSettings { chunking, model: settings.embedding_model_id, most };
        let document = DocumentText {
            title: settings.title,
            text: settings.text,
            is_markdown: true,
            ..DocumentText::default()
        };
        let chunker = Arc::clone(&self.chunker);
        let work = move || {
            let title = document.title.clone().unwrap_or_default();
            chunker.chunk(&document, &title, &cut)
        };
        let made = computed(&*self.compute, tenant, Admission::Take, work).await;
        made.map_err(|error| ServiceFault::Again { message: error.to_string(), after: None })?.map_err(unread)
    }
}

/// Bytes that were not kept, as a fault of the node.
pub(crate) fn unkept(error: BlobError) -> ServiceFault {
    match error {
        BlobError::TooLarge { most } => refused(format!("The file has more than {most} bytes.")),
        BlobError::Interrupted(message) => refused(message),
        BlobError::Missing | BlobError::Unavailable(_) => {
            ServiceFault::Again { message: error.to_string(), after: None }
        }
    }
}

/// Text that was not found, as a fault of the node: what the file itself is the reason of is an error that the model may
/// catch by its code (`encrypted`, `noText`, `unsupportedType`, `limitExceeded`, `parseFailed`).
pub(crate) fn unread(error: ExtractError) -> ServiceFault {
    match error {
        ExtractError::File { fault, message } => {
            let code = fault.as_str().to_owned();
            ServiceFault::Error { code, message, variables: Map::new() }
        }
        ExtractError::Unavailable(message) => ServiceFault::Again { message, after: None },
    }
}

fn part(part: &DocumentPart) -> Value {
    json!({
        "kind": part.kind.as_str(), "number": part.number, "name": part.name,
        "startChar": part.start, "endChar": part.end,
    })
}

fn heading(heading: &Heading) -> Value {
    json!({ "level": heading.level, "text": heading.text, "startChar": heading.start })
}

fn chunk(chunk: &ChunkedPassage) -> Value {
    json!({
        "text": chunk.text, "prefix": chunk.prefix, "context": chunk.context, "tokens": chunk.tokens,
        "locator": chunk.locator,
    })
}

#[async_trait]
impl ServiceWork for DocumentNodes {
    fn kinds(&self) -> &'static [&'static str] {
        &["document.extract", "document.chunk"]
    }

    async fn call(&self, call: &ServiceCall) -> ServiceEnd {
        self.done(call).await.into()
    }
}

impl DocumentNodes {
    async fn done(&self, call: &ServiceCall) -> Result<Map<String, Value>, ServiceFault> {
        let (context, arguments) = (call.person()?, &call.job.arguments);
        if call.job.kind == "document.chunk" {
            let chunks = self.chunk(context, read(arguments, OF_CUTTING)?).await?;
            let chunks: Value = chunks.iter().map(self::chunk).collect();
            return Ok(Map::from_iter([("chunks".to_owned(), chunks)]));
        }
        let found = self.extract(context.tenant(), read(arguments, &["mediaType"])?).await?;
        Ok(Map::from_iter([
            ("text".to_owned(), Value::String(found.text)),
            ("isMarkdown".to_owned(), found.is_markdown.into()),
            ("title".to_owned(), found.title.into()),
            ("language".to_owned(), found.language.into()),
            ("parts".to_owned(), found.parts.iter().map(part).collect()),
            ("headings".to_owned(), found.headings.iter().map(heading).collect()),
            ("warnings".to_owned(), found.warnings.into()),
        ]))
    }
}
