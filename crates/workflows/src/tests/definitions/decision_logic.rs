//! The decision model as a structure: read, and replaced in the draft.

use heddle_dmn::model::{BoxedExpression, Decision, DecisionModel, LiteralExpression};
use heddle_kernel::{Revision, WorkflowId};
use heddle_policy::capability::{WorkflowRead, WorkflowUpdate};
use serde_json::{Value, json};

use crate::UseCaseError;
use crate::definitions::{DecisionLogic, LogicSource, SavedLogic, VersionChoice};
use crate::records::{Draft, RunState, WorkflowView};
use crate::runs::StartRun;
use crate::tests::support::{World, at, caller, input, journal, on_workflow, reasons, review};

const SOURCE: &str = r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="m" name="m" namespace="urn:m">
 <!-- kept -->
 <decision id="rate" name="Rate"><variable name="Rate"/><literalExpression><text>amount * 2</text></literalExpression></decision>
</definitions>"#;

/// A model of one decision with this expression.
fn structure(id: &str, text: &str) -> DecisionModel {
    let literal = LiteralExpression { text: Some(text.to_owned()), ..LiteralExpression::default() };
    let decision = Decision {
        id: Some(id.to_owned()),
        name: Some(id.to_owned()),
        expression: Some(BoxedExpression::LiteralExpression(literal)),
        ..Decision::default()
    };
    DecisionModel { decisions: vec![decision], ..DecisionModel::default() }
}

async fn read(world: &World, id: WorkflowId, choice: VersionChoice) -> DecisionLogic {
    let context = caller("ada", "designer").context();
    let may = on_workflow::<WorkflowRead>(&context, id);
    world.definitions.decision_logic(&may, &context, choice).await.unwrap().1
}

async fn save(
    world: &World,
    id: WorkflowId,
    source: LogicSource,
    revision: Option<i64>,
) -> Result<(WorkflowView, DecisionLogic), UseCaseError> {
    let context = caller("ada", "designer").context();
    let may = on_workflow::<WorkflowUpdate>(&context, id);
    let saved = SavedLogic { source, revision: revision.map(Revision) };
    let record = |saved: &(WorkflowView, DecisionLogic)| journal(&saved.0.definition.revision.to_string());
    world.definitions.save_decision_logic(&may, &context, saved, &record).await
}

fn given(model: DecisionModel) -> LogicSource {
    LogicSource::Structure(Box::new(model))
}

fn source_of(world: &World, id: WorkflowId) -> String {
    let draft = world.memory.workflow(id).draft;
    draft.value().unwrap()["dmn"]["sourceXml"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_definition_without_decisions_has_an_empty_model() {
    let world = World::new();
    let drawn = world.draft("drawn", &review()).await;
    let empty = world.draft("empty", &json!({})).await;
    world.memory.0.lock().workflows.get_mut(&empty).unwrap().draft = Draft::Null;
    for id in [drawn, empty] {
        let logic = read(&world, id, VersionChoice::Draft).await;
        assert_eq!((logic.model, logic.version), (DecisionModel::default(), None));
        assert!(logic.diagnostics.is_empty() && logic.imported.is_empty());
    }
}

#[tokio::test]
async fn a_document_is_read_as_its_structure() {
    let world = World::new();
    let definition = json!({ "dmn": { "sourceXml": SOURCE,
        "importedDocuments": [{ "namespace": "urn:x", "fileName": "x.dmn", "sourceXml": SOURCE.replace("urn:m", "urn:x") }] } });
    let id = world.published("w", &definition).await;
    world.memory.0.lock().workflows.get_mut(&id).unwrap().draft = Draft::Null;
    let logic = read(&world, id, VersionChoice::Published).await;
    assert_eq!(logic.version.as_deref(), Some("1.3"));
    assert_eq!(logic.model.decisions[0].id.as_deref(), Some("rate"));
    assert_eq!(logic.model.source_xml.as_deref(), Some(SOURCE));
    assert_eq!(logic.imported, [(Some("urn:x".to_owned()), Some("x.dmn".to_owned()))]);
    assert_eq!(read(&world, id, VersionChoice::Draft).await.model, DecisionModel::default());
}

#[tokio::test]
async fn a_structure_is_written_as_a_document_beside_what_else_the_draft_says() {
    let world = World::new();
    let id = world.draft("leave-rates", &review()).await;
    let (shown, logic) = save(&world, id, given(structure("rate", "1 + 1")), Some(1)).await.unwrap();
    assert_eq!((shown.definition.revision, shown.definition.draft_revision), (Revision(2), Revision(2)));
    assert_eq!(world.memory.0.lock().journals.last(), Some(&journal("2")));
    let draft = world.memory.workflow(id).draft.value().cloned().unwrap();
    assert_eq!(draft["nodes"], review()["nodes"], "nodes and edges stay as they are");
    let read = heddle_dmn::xml::read(source_of(&world, id).as_bytes()).unwrap().model;
    assert_eq!(read.decisions[0].id.as_deref(), Some("rate"));
    assert_eq!(read.name.as_deref(), Some("leave-rates"), "a model without a name gets the workflow's");
    assert_eq!(read.namespace.as_deref(), Some("urn:heddle:workflow:leave-rates"));
    assert_eq!(logic.model.decisions, read.decisions);
    assert_eq!(draft["dmn"]["elements"][0]["id"], "rate", "the graph shows the decision");
}

#[tokio::test]
async fn a_document_is_taken_as_it_is_and_the_same_structure_changes_nothing_of_it() {
    let world = World::new();
    let id = world.draft("w", &json!({})).await;
    save(&world, id, LogicSource::Document(SOURCE.as_bytes().to_vec()), None).await.unwrap();
    assert_eq!(source_of(&world, id), SOURCE);
    let same = DecisionModel { source_xml: None, ..read(&world, id, VersionChoice::Draft).await.model };
    save(&world, id, given(same.clone()), None).await.unwrap();
    assert_eq!(source_of(&world, id), SOURCE, "comments and blanks are kept while nothing changes");
    let changed = DecisionModel { decisions: structure("rate", "7").decisions, ..same };
    save(&world, id, given(changed), None).await.unwrap();
    let source = source_of(&world, id);
    assert!(source.contains("<text>7</text>") && source.contains("<!-- kept -->"), "{source}");
}

#[tokio::test]
async fn logic_that_is_incomplete_is_told_and_kept() {
    let world = World::new();
    let id = world.draft("w", &json!({})).await;
    let (_, logic) = save(&world, id, given(structure("rate", "1 +")), None).await.unwrap();
    let found = logic.diagnostics.iter().find(|one| one.code == "feelSyntax").unwrap();
    assert_eq!(found.element_id.as_deref(), Some("rate"));
    assert!(found.expression.is_some() && found.line.is_some(), "its place in FEEL and in the document");
    assert!(source_of(&world, id).contains("1 +"));
}

#[tokio::test]
async fn what_cannot_be_kept_is_refused_with_its_place() {
    let world = World::new();
    let id = world.draft("w", &json!({})).await;
    save(&world, id, given(structure("rate", "1")), None).await.unwrap();
    let before = world.memory.workflow(id);
    let contradiction = DecisionModel { source_xml: Some(SOURCE.to_owned()), ..structure("other", "1") };
    let nul = structure("rate", "\u{1}");
    let cases = [
        (
            LogicSource::Document(b"<definitions>\n <".to_vec()),
            None,
            vec![at("sourceXml", "malformedSource")],
        ),
        (given(contradiction), None, vec![at("sourceXml", "contradiction")]),
        (given(structure("rate", "2")), Some(1), vec![at("revision", "revisionMismatch")]),
    ];
    for (source, revision, expected) in cases {
        assert_eq!(reasons(save(&world, id, source, revision).await), expected);
    }
    let refused = save(&world, id, given(nul), None).await;
    let Err(UseCaseError::Invalid(problems)) = &refused else { panic!("{refused:?}") };
    assert_eq!(problems[0].reason, "notAllowed");
    assert!(problems[0].field.as_deref().is_some_and(|field| field.contains("text")), "{problems:?}");
    assert_eq!(world.memory.workflow(id).draft, before.draft);
}

#[tokio::test]
async fn a_decision_model_alone_is_run_by_the_id_of_a_decision() {
    let world = World::new();
    let id = world.published("w", &json!({ "dmn": { "sourceXml": SOURCE } })).await;
    for (process_id, amount, expected) in [(Some("rate"), 4, 8), (None, 5, 10)] {
        let request = StartRun {
            process_id: process_id.map(str::to_owned),
            input: input(json!({ "amount": amount })),
            ..StartRun::default()
        };
        let run = world.start(id, request).await;
        assert_eq!(run.state, RunState::Completed);
        let output = Value::Object(run.snapshot.output().cloned().unwrap());
        assert!(output.to_string().contains(&expected.to_string()), "{output}");
    }
}
