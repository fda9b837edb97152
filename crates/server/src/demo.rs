//! The demo: three workflows of our own, made from BPMN files, and a vector database with two documents, all through the
//! same use cases as any other.

use bytes::Bytes;
use heddle_installation::error::StartError;
use heddle_kernel::{Patch, TenantId, UserId};
use heddle_models::SyncOutcome;
use heddle_policy::RequestContext;
use heddle_policy::capability::{
    DocumentCreate, VectorDatabaseCreate, WorkflowCreate, WorkflowPublish, WorkflowTransform,
};
use heddle_policy::licence::Entitlement;
use heddle_policy::resource::Within;
use heddle_vectors::ports::Blobs as _;
use heddle_vectors::records::{MetadataSchema, QueryDefaults, VectorDatabase};
use heddle_vectors::{NewFile, NewVectorDatabase, Uploaded};
use heddle_workflows::definitions::{
    NewWorkflow, PreviewRequest, PublishRequest, SourceFormat, TransformTarget,
};
use heddle_workflows::records::Draft;

use crate::acting::{Acting, journal};
use crate::app::App;

/// A BPMN file that becomes a workflow.
#[derive(Debug)]
pub struct Source<'a> {
    /// The workflow's slug.
    pub slug: &'a str,
    /// Display name of the workflow.
    pub display_name: &'a str,
    /// Description of the workflow.
    pub description: &'a str,
    /// The file's name.
    pub file_name: &'a str,
    /// The file.
    pub bytes: &'a [u8],
    /// Publish it as well.
    pub publish: bool,
}

const DEMOS: [Source<'static>; 3] = [
    Source {
        slug: "purchase-approval",
        display_name: "Purchase approval",
        description: "A purchase above 500 is approved by a person.",
        file_name: "approval.bpmn",
        bytes: include_bytes!("../demo/approval.bpmn"),
        publish: true,
    },
    Source {
        slug: "onboarding",
        display_name: "Onboarding",
        description: "Account and workplace are prepared side by side.",
        file_name: "parallel.bpmn",
        bytes: include_bytes!("../demo/parallel.bpmn"),
        publish: true,
    },
    Source {
        slug: "answer-deadline",
        display_name: "Response with a deadline",
        description: "A request that nobody answers within two days is escalated.",
        file_name: "reminder.bpmn",
        bytes: include_bytes!("../demo/reminder.bpmn"),
        publish: true,
    },
];

/// Makes the demo workflows in the name of the organisation's founder.
///
/// # Errors
/// What the use cases met.
pub async fn fill(app: &App, tenant: TenantId, founder: UserId) -> Result<(), StartError> {
    let acting = Acting::founder(tenant, founder);
    for source in &DEMOS {
        import(app, &acting, source).await?;
    }
    let has_vectors = app.identity.licence_state().allows(Entitlement::Vector.as_str());
    if app.config.vectors.demo && has_vectors {
        house_rules(app, &acting).await?;
    }
    if app.config.models.demo && app.config.models.built_in {
        built_in_models(app, &acting).await?;
    }
    Ok(())
}

/// Deploys the models inside the service, so that a demonstration chats without a key and a network.
async fn built_in_models(app: &App, acting: &Acting) -> Result<(), StartError> {
    let context = acting.context(app);
    let record = |done: &SyncOutcome| {
        let first = done.created.first().map(|made| made.id.to_string()).unwrap_or_default();
        journal(app, &context, "deployment.local_synced", "deployment", first)
    };
    app.models.local.ensure_built_in(&context, &record).await?;
    Ok(())
}

/// Documents of the demo's vector database: name and text.
const HOUSE_RULES: [(&str, &str); 2] = [
    ("purchases.md", include_str!("../demo/purchases.md")),
    ("onboarding.md", include_str!("../demo/onboarding.md")),
];

/// Makes a vector database whose passages are found by their words, with two documents.
async fn house_rules(app: &App, acting: &Acting) -> Result<(), StartError> {
    let context = acting.context(app);
    let denied = |denial: heddle_policy::DenialError| StartError::Internal(denial.reason.code().to_owned());
    let new = NewVectorDatabase {
        name: "house-rules".to_owned(),
        display_name: Some("House rules".to_owned()),
        description: Some("How purchases are made and how people begin.".to_owned()),
        model: Patch::Null,
        methodology: Some("markdown".to_owned()),
        options: None,
        backend: None,
        schema: MetadataSchema::new(),
        defaults: QueryDefaults::default(),
    };
    let create = context.snapshot().authorize_kind::<VectorDatabaseCreate>().map_err(denied)?;
    let record = |made: &VectorDatabase| {
        journal(app, &context, "vector_database.created", "vector-database", made.name.to_string())
    };
    let made = app.vectors.databases.create(&create, &context, new, &record).await?;
    let place = Within::of(made.name.clone());
    let upload = context.snapshot().authorize_kind_within::<DocumentCreate>(place).map_err(denied)?;
    let mut files = Vec::new();
    for (name, text) in HOUSE_RULES {
        let bytes = Box::pin(futures::stream::iter([Ok(Bytes::from_static(text.as_bytes()))]));
        let blob = app.blobs.put(context.tenant(), text.len() as u64, bytes).await;
        let blob = blob.map_err(|error| StartError::Vectors(error.to_string()))?;
        let (title, metadata) = (None, serde_json::Map::new());
        files.push(NewFile { name: name.to_owned(), media_type: None, title, metadata, blob });
    }
    let record = |made: &Uploaded| {
        let first = made.files.first().map(|file| file.id.to_string()).unwrap_or_default();
        journal(app, &context, "document.uploaded", "document", first)
    };
    app.vectors.files.upload(&upload, &context, files, &record).await?;
    Ok(())
}

/// Makes a workflow from a BPMN file; its id.
///
/// # Errors
/// What the use cases met.
pub async fn import(app: &App, acting: &Acting, source: &Source<'_>) -> Result<String, StartError> {
    let context = acting.context(app);
    let denied = |denial: heddle_policy::DenialError| StartError::Internal(denial.reason.code().to_owned());
    let may = |context: &RequestContext| context.snapshot().authorize_kind::<WorkflowTransform>();
    let request = PreviewRequest {
        format: SourceFormat::Bpmn,
        file_name: Some(source.file_name.to_owned()),
        bytes: source.bytes.to_vec(),
        target: TransformTarget::Definition,
    };
    let previewed = app.definitions.preview(&may(&context).map_err(denied)?, &context, request).await?;
    let mut definition = previewed.definition;
    definition.imports = Some(vec![heddle_bpmn::model::Import {
        executable: Some(previewed.executable),
        format: Some("bpmn".to_owned()),
        items: Some(previewed.items),
        source_file_name: Some(source.file_name.to_owned()),
        source_sha256: Some(previewed.sha256),
        version: Some("2.0".to_owned()),
    }]);
    let json = serde_json::to_value(&definition).map_err(|error| StartError::Internal(error.to_string()))?;
    let new = NewWorkflow {
        slug: source.slug.to_owned(),
        display_name: source.display_name.to_owned(),
        description: source.description.to_owned(),
        folder_id: Patch::Absent,
        draft: Draft::Value(json),
    };
    let create = context.snapshot().authorize_kind::<WorkflowCreate>().map_err(denied)?;
    let record = |view: &heddle_workflows::records::WorkflowView| {
        journal(app, &context, "workflow.created", "workflow", view.definition.id.to_string())
    };
    let view = app.definitions.create(&create, &context, new, &record).await?;
    let id = view.definition.id;
    if source.publish {
        let publish = context.snapshot().authorize_one::<WorkflowPublish>(id, ()).map_err(denied)?;
        let record = |_: &heddle_workflows::definitions::Published| {
            journal(app, &context, "workflow.published", "workflow", id.to_string())
        };
        app.definitions.publish(&publish, &context, PublishRequest::default(), &record).await?;
    }
    Ok(id.to_string())
}
