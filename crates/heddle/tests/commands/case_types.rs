//! Case types: from a CMMN file to a version, and out again.

use super::*;

const CLAIM: &str = r#"<definitions xmlns="http://www.omg.org/spec/CMMN/20151109/MODEL" id="m" targetNamespace="urn:x">
  <case id="claim" name="Claim"><casePlanModel id="plan" name="Plan">
    <planItem id="item" definitionRef="assess"/><humanTask id="assess" name="Assess"/></casePlanModel></case></definitions>"#;

#[test]
fn a_file_becomes_a_case_type_that_is_published_exported_and_deleted() {
    let (folder, _) = demo();
    let place = folder.path();
    std::fs::write(place.join("claim.cmmn"), CLAIM).unwrap();
    std::fs::write(
        place.join("broken.cmmn"),
        CLAIM.replace("definitionRef=\"assess\"", "definitionRef=\"gone\""),
    )
    .unwrap();
    let with = |arguments: &[&str]| run(place, &[arguments, &["--as", ADMINISTRATOR]].concat());
    let said = |arguments: &[&str]| {
        let done = with(arguments);
        assert_eq!(code(&done), 0, "{arguments:?}: {}", told(&done));
        String::from_utf8(done.stdout).unwrap()
    };
    assert!(said(&["case-type", "validate", "claim.cmmn"]).contains("can be published"));
    assert_eq!(code(&with(&["case-type", "validate", "broken.cmmn"])), 1);
    assert!(said(&["case-type", "import", "--publish", "claim.cmmn"]).contains("Created claim."));
    assert_ne!(code(&with(&["case-type", "import", "claim.cmmn"])), 0, "the slug is taken");
    assert!(said(&["case-type", "import", "--update", "claim.cmmn"]).contains("Updated claim."));
    assert!(said(&["case-type", "list"]).contains("claim"));
    assert!(said(&["case-type", "get", "claim"]).contains("published"));
    assert!(said(&["case-type", "export", "claim", "--of", "published"]).contains("<humanTask"));
    assert!(said(&["case-type", "export", "claim", "--format", "json"]).contains("\"humanTask\""));
    assert_ne!(code(&with(&["workflow", "get", "claim"])), 0, "it is no workflow");
    assert!(said(&["case-type", "archive", "claim"]).contains("Archived"));
    assert!(said(&["case-type", "delete", "claim"]).contains("Deleted claim."));
    assert_ne!(code(&with(&["case-type", "get", "claim"])), 0);
}
