//! Recipes: by which model a database is embedded anew.

use heddle_kernel::Patch;
use heddle_policy::capability::VectorDatabaseUpdate;
use serde_json::Value;

use super::*;
use crate::bounds::FixedQuotas;
use crate::ports::{
    EmbeddingModel, Methodology, MethodologyKind, MockChunker, MockDatabaseUses, MockEmbedder,
    MockPassageIndex, MockVectorStore, ModelSource, ModelState, Quotas,
};
use crate::records::ModelUse;
use crate::{DatabasePorts, UseCaseError, VectorDatabasePatch, VectorDatabases};

fn model(revision: &str) -> ModelUse {
    let id = Uuid::from_u128(700).to_string();
    ModelUse { id, dimensions: 3, revision: revision.to_owned() }
}

/// The database, embedded by the first revision of a deployment.
fn embedded() -> VectorDatabase {
    let mut database = database();
    database.recipe.model = Some(model("first"));
    // Two that were begun meanwhile were given up.
    database.last_generation = 3;
    database
}

fn served(state: ModelState) -> EmbeddingModel {
    EmbeddingModel {
        model: model("second"),
        display_name: "m".to_owned(),
        source: ModelSource::Deployment,
        deployment_alias: Some("vectors".to_owned()),
        max_input_tokens: 512,
        languages: Vec::new(),
        state,
        state_detail: Some("Load it.".to_owned()),
        is_default: false,
        sha256: None,
        licence: String::new(),
    }
}

fn methodology(id: &str) -> Methodology {
    Methodology {
        id: id.to_owned(),
        kind: MethodologyKind::Chunking,
        display_name: id.to_owned(),
        description: String::new(),
        is_default: id == "recursive",
        requires_embedding: false,
        options_schema: Value::Null,
        defaults: Map::new(),
    }
}

/// Changes the database while these models are served.
async fn changed(
    models: Vec<EmbeddingModel>,
    context: &RequestContext,
    patch: VectorDatabasePatch,
) -> Result<VectorDatabase, UseCaseError> {
    let mut store = MockVectorStore::new();
    store.expect_database().returning(|_, _| Ok(embedded()));
    store.expect_update_database().returning(|_, _, _| Ok(()));
    let mut embedder = MockEmbedder::new();
    embedder.expect_models().returning(move |_| Ok(models.clone()));
    let mut chunker = MockChunker::new();
    chunker.expect_methodologies().returning(|| vec![methodology("recursive"), methodology("markdown")]);
    chunker
        .expect_check()
        .returning(|id, options| Ok(Chunking { id: id.to_owned(), options: options.clone() }));
    let databases = VectorDatabases::new(DatabasePorts {
        store: Arc::new(store),
        embedder: Arc::new(embedder),
        chunker: Arc::new(chunker),
        index: Arc::new(MockPassageIndex::new()),
        uses: Arc::new(MockDatabaseUses::new()),
        quotas: Arc::new(FixedQuotas(Quotas::default())),
        ids: ids(),
    });
    let authorized = context.snapshot().authorize_one::<VectorDatabaseUpdate>(database().name, ()).unwrap();
    databases.update(&authorized, context, patch, &nothing).await
}

fn by_markdown() -> VectorDatabasePatch {
    VectorDatabasePatch { methodology: Some("markdown".to_owned()), ..VectorDatabasePatch::default() }
}

#[tokio::test]
async fn another_methodology_takes_the_revision_that_is_served() {
    let denied = context_denied("deployment", "embed", &model("first").id);
    for context in [context(), denied] {
        let after = changed(vec![served(ModelState::Ready)], &context, by_markdown()).await.unwrap();
        let next = after.next.unwrap();
        assert_eq!((next.generation, after.generation), (4, 1), "no number is given twice");
        let next = next.recipe;
        assert_eq!((next.model, next.chunking.id.as_str()), (Some(model("second")), "markdown"));
        assert_eq!(after.recipe.model, Some(model("first")), "what serves is as it was");
    }
    let model_too = VectorDatabasePatch { model: Patch::Value(model("first").id), ..by_markdown() };
    let after = changed(vec![served(ModelState::Ready)], &context(), model_too).await.unwrap();
    assert_eq!(after.next.unwrap().recipe.model, Some(model("second")));
}

#[tokio::test]
async fn what_embeds_nothing_anew_keeps_the_revision_and_needs_no_model() {
    let named = VectorDatabasePatch {
        display_name: Some("Papers".to_owned()),
        methodology: Some("recursive".to_owned()),
        ..VectorDatabasePatch::default()
    };
    let after = changed(Vec::new(), &context(), named).await.unwrap();
    assert_eq!((after.next, after.recipe.model), (None, Some(model("first"))));
}

#[tokio::test]
async fn a_methodology_whose_model_can_not_embed_is_refused_with_what_to_do() {
    for (models, help) in [
        (Vec::new(), "`embeddingModelId`"),
        (vec![served(ModelState::Missing)], "Load it."),
        (vec![served(ModelState::Error)], "Load it."),
    ] {
        let refused = changed(models, &context(), by_markdown()).await;
        let Err(UseCaseError::Conflict(problems)) = refused else { panic!("{refused:?}") };
        assert_eq!((problems.len(), problems[0].reason), (1, "modelMissing"));
        assert!(problems[0].message.contains(help), "{problems:?}");
    }
    let words = VectorDatabasePatch { model: Patch::Null, ..by_markdown() };
    let after = changed(Vec::new(), &context(), words).await.unwrap();
    assert_eq!(after.next.unwrap().recipe.model, None);
}
