//! Reads the models of the suites, writes them, and reads them again.

use crate::folders::{models, suites};
use crate::roundtrip::survives;
use heddle_cmmn::xml;

#[test]
fn every_model_survives() {
    let Some(suites) = suites() else { return };
    let all = models(&suites.join("cmmn"));
    assert!(all.len() > 100, "{} models", all.len());
    for path in all {
        println!("{}", path.display());
        let source = std::fs::read_to_string(&path).unwrap();
        survives(&source);
        let definition = xml::read(source.as_bytes()).unwrap().definition;
        let cases = definition.cases.unwrap_or_default();
        assert!(cases.iter().any(|case| case.case_plan_model.is_some()), "{}", path.display());
        let unsupported = xml::read(source.as_bytes()).unwrap().items;
        let unsupported = unsupported.iter().filter(|item| item.outcome.as_deref() == Some("unsupported"));
        assert_eq!(unsupported.count(), 0, "{}", path.display());
    }
}
