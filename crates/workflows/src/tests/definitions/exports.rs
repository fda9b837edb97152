//! Exports to BPMN, WS-BPEL and DMN.

use std::io::{Cursor, Read as _};

use heddle_kernel::WorkflowId;
use heddle_policy::capability::WorkflowExport;
use heddle_usecase::sha256_hex;
use serde_json::{Value, json};

use crate::UseCaseError;
use crate::definitions::{BpelExport, BpelRequest, DmnExport, DmnRequest, VersionChoice};
use crate::records::Draft;
use crate::tests::support::{World, at, caller, chain, on_workflow, reasons, review};

fn model_named(namespace: &str, id: &str) -> String {
    format!(
        "<definitions xmlns=\"https://www.omg.org/spec/DMN/20191111/MODEL/\" id=\"m\" name=\"m\" \
         namespace=\"{namespace}\"><decision id=\"{id}\" name=\"{id}\"><variable name=\"{id}\"/>\
         <literalExpression><text>1 + 1</text></literalExpression></decision></definitions>"
    )
}

fn decisions() -> Value {
    json!({ "dmn": { "sourceXml": model_named("urn:main", "main"), "importedDocuments": [
        { "namespace": "urn:rates", "fileName": "rates.dmn", "sourceXml": model_named("urn:rates", "rate") },
        { "namespace": "urn:rules", "fileName": "../rates.dmn", "sourceXml": model_named("urn:rules", "rule") }] } })
}

async fn bpel(world: &World, id: WorkflowId, request: BpelRequest) -> Result<BpelExport, UseCaseError> {
    let context = caller("ada", "designer").context();
    world.definitions.export_bpel(&on_workflow::<WorkflowExport>(&context, id), &context, request).await
}

async fn dmn(world: &World, id: WorkflowId, request: DmnRequest) -> Result<DmnExport, UseCaseError> {
    let context = caller("ada", "designer").context();
    world.definitions.export_dmn(&on_workflow::<WorkflowExport>(&context, id), &context, request).await
}

/// The files of an archive with their texts, in order.
fn files(bytes: Vec<u8>) -> Vec<(String, String)> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut files = Vec::new();
    for at in 0..archive.len() {
        let mut file = archive.by_index(at).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        files.push((file.name().unwrap().into_owned(), text));
    }
    files
}

#[tokio::test]
async fn bpmn_says_what_the_chosen_definition_says() {
    let world = World::new();
    let id = world.published("w", &review()).await;
    world.memory.0.lock().workflows.get_mut(&id).unwrap().draft = Draft::Value(chain(&[]));
    let context = caller("ada", "designer").context();
    let may = on_workflow::<WorkflowExport>(&context, id);
    for (choice, has_review) in [(VersionChoice::Draft, false), (VersionChoice::Published, true)] {
        let made = world.definitions.export_bpmn(&may, &context, choice).await.unwrap();
        assert_eq!(made.content.contains("userTask id=\"review\""), has_review, "{choice:?}");
        assert!(made.content.contains("BPMNDiagram"), "a definition without a diagram gets one laid out");
        assert_eq!((made.media_type, made.sha256), ("application/xml", sha256_hex(made.content.as_bytes())));
        let read = heddle_bpmn::xml::read(made.content.as_bytes()).unwrap();
        let sent: heddle_bpmn::model::WorkflowDefinition =
            serde_json::from_value(if has_review { review() } else { chain(&[]) }).unwrap();
        let ids = |definition: &heddle_bpmn::model::WorkflowDefinition| {
            let nodes = heddle_bpmn::model::nodes(definition).into_iter();
            nodes.filter_map(|at| at.node.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(ids(&read.definition), ids(&sent));
    }
}

#[tokio::test]
async fn a_workflow_without_a_definition_has_nothing_to_export() {
    let world = World::new();
    let id = world.draft("w", &json!({})).await;
    world.memory.0.lock().workflows.get_mut(&id).unwrap().draft = Draft::Null;
    let context = caller("ada", "designer").context();
    let may = on_workflow::<WorkflowExport>(&context, id);
    let made = world.definitions.export_bpmn(&may, &context, VersionChoice::Draft).await;
    assert!(matches!(made, Err(UseCaseError::NotFound)), "{made:?}");
    assert!(matches!(bpel(&world, id, BpelRequest::default()).await, Err(UseCaseError::NotFound)));
    assert!(matches!(dmn(&world, id, DmnRequest::default()).await, Err(UseCaseError::NotFound)));
    // A process alone is no decision model.
    let drawn = world.draft("drawn", &review()).await;
    assert!(matches!(dmn(&world, drawn, DmnRequest::default()).await, Err(UseCaseError::NotFound)));
}

#[tokio::test]
async fn bpel_is_one_text_or_an_archive_of_all_files() {
    let world = World::new();
    let id = world
        .draft("leave", &chain(&[("wait", "receiveTask", json!({ "bpmn": { "messageRef": "m" } }))]))
        .await;
    let text = bpel(&world, id, BpelRequest::default()).await.unwrap();
    let process = String::from_utf8(text.bytes.clone()).unwrap();
    assert!(process.contains("<receive ") && !text.archive, "{process}");
    assert_eq!(text.sha256, sha256_hex(&text.bytes));
    let archive = bpel(&world, id, BpelRequest { archive: true, ..BpelRequest::default() }).await.unwrap();
    let files = files(archive.bytes.clone());
    let kinds: Vec<_> = files.iter().filter_map(|(name, _)| name.rsplit('.').next()).collect();
    assert_eq!(kinds, ["bpel", "wsdl", "xsd"]);
    assert_eq!(files[0].1, process);
    let again = bpel(&world, id, BpelRequest { archive: true, ..BpelRequest::default() }).await.unwrap();
    assert_eq!(again.sha256, archive.sha256, "one definition gives one hash");
}

#[tokio::test]
async fn what_has_no_mapping_to_bpel_is_a_conflict_that_names_the_region() {
    let world = World::new();
    let ad_hoc =
        json!({ "bpmn": { "subProcess": { "nodes": [{ "id": "t", "type": "task" }], "edges": [] } } });
    let id = world.draft("w", &chain(&[("free", "adHocSubProcess", ad_hoc)])).await;
    let refused = bpel(&world, id, BpelRequest::default()).await;
    let Err(UseCaseError::Conflict(problems)) = refused else { panic!("{refused:?}") };
    assert_eq!(problems[0].extra["elementIds"], json!(["free"]));
    let unknown = BpelRequest { process: Some("gone".to_owned()), ..BpelRequest::default() };
    assert_eq!(reasons(bpel(&world, id, unknown).await), [at("process", "unknown")]);
}

#[tokio::test]
async fn dmn_is_the_model_one_of_its_imports_or_an_archive_of_all() {
    let world = World::new();
    let id = world.draft("rates", &decisions()).await;
    let document = |wanted: &str| DmnRequest { document: Some(wanted.to_owned()), ..DmnRequest::default() };
    let cases = [
        (DmnRequest::default(), "rates.dmn", "main"),
        (document("urn:rates"), "rates.dmn", "rate"),
        (document("rates.dmn"), "rates.dmn", "rate"),
        (document("urn:rules"), "../rates.dmn", "rule"),
    ];
    for (request, file_name, decision) in cases {
        let made = dmn(&world, id, request).await.unwrap();
        let text = String::from_utf8(made.bytes).unwrap();
        assert!(text.contains(&format!("<decision id=\"{decision}\"")), "{file_name}: {text}");
        assert!(text.contains("DMNDI") || text.contains("DMNDiagram"), "it gets a diagram");
        assert_eq!((made.file_name.as_str(), made.sha256), (file_name, sha256_hex(text.as_bytes())));
    }
    let made = dmn(&world, id, DmnRequest { archive: true, ..DmnRequest::default() }).await.unwrap();
    assert_eq!(made.file_name, "rates.zip");
    let named: Vec<_> = files(made.bytes).into_iter().map(|(name, _)| name).collect();
    assert_eq!(named, ["rates.dmn", "rates-2.dmn", "rates-3.dmn"], "plain names, each once");
    let unknown = dmn(&world, id, document("urn:other")).await;
    let Err(UseCaseError::Invalid(problems)) = &unknown else { panic!("{unknown:?}") };
    assert_eq!(problems[0].extra["known"], json!(["urn:rates", "urn:rules"]));
    assert_eq!(reasons(unknown), [at("document", "unknown")]);
}

#[tokio::test]
async fn a_decision_model_that_cannot_be_read_is_a_conflict_with_its_place() {
    let world = World::new();
    let id = world.draft("w", &json!({ "dmn": { "sourceXml": "<definitions>\n <" } })).await;
    let refused = dmn(&world, id, DmnRequest::default()).await;
    let Err(UseCaseError::Conflict(problems)) = &refused else { panic!("{refused:?}") };
    assert_eq!(problems[0].extra["line"], 2);
    assert_eq!(reasons(refused), [at("definition.dmn.sourceXml", "notExportable")]);
}
