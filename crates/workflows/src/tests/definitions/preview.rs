//! Previews of files, and the bytes that a workflow was imported from.

use heddle_kernel::Patch;
use heddle_policy::capability::{WorkflowCreate, WorkflowRead, WorkflowTransform};
use heddle_usecase::sha256_hex;
use serde_json::{Value, json};

use crate::UseCaseError;
use crate::definitions::{NewWorkflow, PreviewRequest, Previewed, SourceFormat, TransformTarget};
use crate::records::Draft;
use crate::tests::support::{NOW, World, at, caller, of_kind, on_workflow, reasons, review, unrecorded};

const BPMN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="urn:example">
  <process id="p" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="u"/>
  <userTask id="u" name="Approve"/><sequenceFlow id="g" sourceRef="u" targetRef="e"/><endEvent id="e"/></process>
</definitions>"#;

const DMN: &str = r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="m" name="m" namespace="urn:m">
  <decision id="rate" name="Rate"><variable name="Rate"/><literalExpression><text>2 * 3</text></literalExpression></decision>
</definitions>"#;

fn file(format: SourceFormat, bytes: &[u8], target: TransformTarget) -> PreviewRequest {
    PreviewRequest { format, file_name: Some("a.file".to_owned()), bytes: bytes.to_vec(), target }
}

async fn preview(world: &World, request: PreviewRequest) -> Result<Previewed, UseCaseError> {
    let context = caller("ada", "designer").context();
    world.definitions.preview(&of_kind::<WorkflowTransform>(&context), &context, request).await
}

#[tokio::test]
async fn a_file_becomes_a_definition_and_only_its_bytes_are_kept_for_a_day() {
    let cases = [
        (SourceFormat::Bpmn, BPMN.to_owned(), Some("2.0"), "application/xml"),
        (SourceFormat::Dmn, DMN.to_owned(), Some("1.3"), "application/xml"),
        (SourceFormat::Json, review().to_string(), None, "application/json"),
    ];
    for (format, text, version, media_type) in cases {
        let world = World::new();
        let bytes = text.as_bytes();
        let made = preview(&world, file(format, bytes, TransformTarget::Definition)).await.unwrap();
        assert_eq!((made.version, made.sha256), (version, sha256_hex(bytes)), "{format:?}");
        assert!(
            made.executable && made.lossless && made.content.is_none(),
            "{format:?}: {:?}",
            made.diagnostics
        );
        let tables = world.memory.0.lock();
        let [(source, expires_at)] = tables.sources.as_slice() else { panic!("{format:?}") };
        assert_eq!((source.bytes.as_slice(), source.media_type.as_str()), (bytes, media_type));
        assert_eq!(source.file_name.as_deref(), Some("a.file"));
        assert_eq!(*expires_at, NOW.plus_seconds(24 * 3600));
        assert!(tables.workflows.is_empty() && tables.journals.is_empty());
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_told_with_line_and_column_and_not_kept() {
    let cases: [(SourceFormat, &[u8]); 6] = [
        (SourceFormat::Bpmn, b"<definitions>\n  <process"),
        (SourceFormat::Bpmn, b"{}"),
        (SourceFormat::Dmn, b"<definitions>\n  <decision"),
        (SourceFormat::Json, b"{\n  \"nodes\": [ }"),
        (SourceFormat::Json, b"{\n} {}"),
        (SourceFormat::Json, b"{\n  \"nodes\": 5 }"),
    ];
    for (format, bytes) in cases {
        let world = World::new();
        let refused = preview(&world, file(format, bytes, TransformTarget::Definition)).await;
        let Err(UseCaseError::Invalid(problems)) = &refused else { panic!("{format:?}: {refused:?}") };
        let place =
            (problems[0].extra["line"].as_u64().unwrap(), problems[0].extra["column"].as_u64().unwrap());
        let lines = bytes.split(|byte| *byte == b'\n').count() as u64;
        assert_eq!(place.0, lines, "{format:?}: {problems:?}");
        assert!(place.1 >= 1);
        assert_eq!(reasons(refused), [at("source.content", "malformedSource")]);
        assert!(world.memory.0.lock().sources.is_empty());
    }
}

#[tokio::test]
async fn a_file_becomes_each_target_that_its_standard_has() {
    use SourceFormat::{Bpmn, Dmn, Json};
    let review = review().to_string();
    let both = json!({ "dmn": { "sourceXml": DMN } }).to_string();
    // What the content must hold; none where the target is not allowed for this source.
    let cases: [(SourceFormat, &str, TransformTarget, Option<&str>); 8] = [
        (Bpmn, BPMN, TransformTarget::Bpmn, Some("userTask id=\"u\"")),
        (Bpmn, BPMN, TransformTarget::Bpel, Some("<process")),
        (Bpmn, BPMN, TransformTarget::Dmn, None),
        (Json, &review, TransformTarget::Bpmn, Some("userTask id=\"review\"")),
        (Json, &both, TransformTarget::Dmn, Some("<decision id=\"rate\"")),
        (Dmn, DMN, TransformTarget::Dmn, Some("<decision id=\"rate\"")),
        (Dmn, DMN, TransformTarget::Bpmn, None),
        (Dmn, DMN, TransformTarget::Bpel, None),
    ];
    for (format, text, target, expected) in cases {
        let world = World::new();
        let made = preview(&world, file(format, text.as_bytes(), target)).await;
        match expected {
            Some(part) => {
                let content = made.unwrap().content.unwrap();
                assert!(content.contains(part), "{format:?} {target:?}: {content}");
            }
            None => assert_eq!(reasons(made), [at("target", "notAllowed")], "{format:?} {target:?}"),
        }
    }
}

#[tokio::test]
async fn a_target_that_cannot_say_everything_is_not_called_lossless() {
    let world = World::new();
    // BPMN XML has no place for the decision model of a definition that has a process; WS-BPEL none for ad-hoc work.
    let ad_hoc = BPMN.replace("userTask", "adHocSubProcess");
    let cases = [
        (SourceFormat::Bpmn, BPMN.to_owned(), TransformTarget::Bpmn, true),
        (SourceFormat::Bpmn, ad_hoc, TransformTarget::Bpel, false),
        (SourceFormat::Dmn, DMN.to_owned(), TransformTarget::Dmn, true),
    ];
    for (format, text, target, lossless) in cases {
        let made = preview(&world, file(format, text.as_bytes(), target)).await.unwrap();
        assert_eq!(made.lossless, lossless, "{format:?} {target:?}: {:?}", made.diagnostics);
        if !lossless {
            assert!(!made.diagnostics.is_empty(), "what is lost is told");
        }
    }
}

#[tokio::test]
async fn what_an_engine_cannot_run_is_told_in_the_preview() {
    let world = World::new();
    let text = BPMN.replace("<userTask id=\"u\" name=\"Approve\"/>", "<callActivity id=\"u\"/>");
    let made = preview(&world, file(SourceFormat::Bpmn, text.as_bytes(), TransformTarget::Definition))
        .await
        .unwrap();
    assert!(!made.executable);
    assert!(
        made.diagnostics.iter().any(|one| one.element_id.as_deref() == Some("u")),
        "{:?}",
        made.diagnostics
    );
    let wrong = DMN.replace("2 * 3", "2 * ");
    let made = preview(&world, file(SourceFormat::Dmn, wrong.as_bytes(), TransformTarget::Definition))
        .await
        .unwrap();
    assert!(!made.executable);
    let outcomes: Vec<_> =
        made.items.iter().map(|item| (item.element_id.as_deref(), item.outcome.as_deref())).collect();
    assert_eq!(outcomes, [(Some("rate"), Some("unsupported"))]);
}

#[tokio::test]
async fn the_imported_bytes_are_served_to_the_workflow_that_claimed_them() {
    let world = World::new();
    let request = file(SourceFormat::Bpmn, BPMN.as_bytes(), TransformTarget::Definition);
    let made = preview(&world, request).await.unwrap();
    let mut document: Value = serde_json::to_value(&made.definition).unwrap();
    document["imports"] = json!([{ "format": "bpmn", "sourceSha256": made.sha256 }]);
    let context = caller("ada", "designer").context();
    let new = NewWorkflow {
        slug: "imported".to_owned(),
        display_name: "Imported".to_owned(),
        description: String::new(),
        folder_id: Patch::Absent,
        draft: Draft::Value(document),
    };
    let may = of_kind::<WorkflowCreate>(&context);
    let id = world.definitions.create(&may, &context, new, &unrecorded).await.unwrap().definition.id;
    let source = world.definitions.import_source(&on_workflow::<WorkflowRead>(&context, id), &context).await;
    assert_eq!(source.unwrap().bytes, BPMN.as_bytes());
    let other = world.draft("drawn", &review()).await;
    let none = world.definitions.import_source(&on_workflow::<WorkflowRead>(&context, other), &context).await;
    assert!(matches!(none, Err(UseCaseError::NotFound)), "{none:?}");
}

#[test]
fn the_standard_of_an_xml_file_is_that_of_its_first_namespace() {
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let both = |first: &str, second: &str| format!("<d xmlns=\"{first}\" xmlns:o=\"{second}\"/>");
    let (bpmn, dmn) =
        ("http://www.omg.org/spec/BPMN/20100524/MODEL", "https://www.omg.org/spec/DMN/20191111/MODEL/");
    let cases = [
        (BPMN.as_bytes().to_vec(), SourceFormat::Bpmn),
        (DMN.as_bytes().to_vec(), SourceFormat::Dmn),
        (wide(BPMN), SourceFormat::Bpmn),
        (wide(DMN), SourceFormat::Dmn),
        (both(bpmn, dmn).into_bytes(), SourceFormat::Bpmn),
        (both(dmn, bpmn).into_bytes(), SourceFormat::Dmn),
        (b"<other/>".to_vec(), SourceFormat::Bpmn),
        (Vec::new(), SourceFormat::Bpmn),
    ];
    for (bytes, expected) in cases {
        assert_eq!(SourceFormat::of_xml(&bytes), expected, "{}", String::from_utf8_lossy(&bytes));
    }
}
