use std::collections::BTreeSet;

use heddle_feel::Dialect;

use super::*;
use heddle_dmn::Severity;

fn all() -> Vec<&'static FeatureClaim> {
    let claims = claims();
    let lists = [
        &claims.elements,
        &claims.boxed_expressions,
        &claims.decision_tables,
        &claims.hit_policies,
        &claims.aggregations,
        &claims.feel,
        &claims.functions,
        &claims.diagrams,
    ];
    lists.into_iter().flatten().collect()
}

#[test]
fn the_claims_at_a_glance() {
    let mut text = String::new();
    for level in &claims().levels {
        let Share { supported, total } = level.features;
        text +=
            &format!("level {} {:?} {supported}/{total} {:?}\n", level.level, level.status, level.missing);
    }
    text += &format!("read {:?} written {:?}\n", claims().versions.read, claims().versions.written);
    for claim in all() {
        let marks =
            [(claim.parse, 'r'), (claim.export, 'w')].map(|(there, mark)| if there { mark } else { '-' });
        let marks: String = marks.iter().collect();
        let notes = claim.notes.as_deref().unwrap_or_default();
        text += format!("{marks} {:?} {} {} {notes}", claim.execute, claim.clause, claim.name).trim_end();
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

#[test]
fn every_built_in_function_is_tried_and_none_that_is_not_there() {
    let tried: BTreeSet<&str> = claims().functions.iter().map(|claim| claim.name).collect();
    let there: BTreeSet<&str> = heddle_feel::built_in_functions(Dialect::Standard).collect();
    assert_eq!(tried, there);
    for claim in &claims().functions {
        assert_eq!(claim.execute, Extent::Full, "{}: {:?}", claim.name, claim.notes);
    }
}

#[test]
fn a_claim_that_is_not_executed_says_why_and_nothing_is_lost() {
    for claim in all() {
        assert!(claim.export, "{} is lost", claim.name);
        assert_eq!(claim.execute == Extent::None, claim.notes.is_some(), "{}", claim.name);
    }
    let names: Vec<&str> = claims().elements.iter().map(|claim| claim.name).collect();
    let once: BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(names.len(), once.len(), "a claim stands twice");
}

#[test]
fn a_level_has_what_those_below_it_have() {
    for pair in claims().levels.windows(2) {
        assert!(pair[0].features.total < pair[1].features.total);
        assert!(pair[0].missing.iter().all(|name| pair[1].missing.contains(name)));
    }
    let missing = &claims().levels[2].missing;
    assert!(missing.iter().any(|name| name == "functionDefinition carried out by Java"), "{missing:?}");
}

/// Codes of the errors and warnings of a model with this content.
fn wrong(content: &str) -> Vec<String> {
    let source = probe::document_in(xml::MODEL_NS, content);
    let imported = xml::read(source.as_bytes()).unwrap();
    let compiled = heddle_dmn::compile(std::slice::from_ref(&imported.model));
    compiled
        .diagnostics
        .into_iter()
        .filter(|found| found.severity != Severity::Info)
        .map(|found| found.code)
        .collect()
}

#[test]
fn deviations_are_what_the_code_does() {
    let ids: Vec<&str> = claims().deviations.iter().map(|one| one.id).collect();
    assert_eq!(ids, ["D1", "D2", "D3", "D4", "D5", "D6", "D7", "D8"]);
    // D1, D2 and D5.
    let java = r#"<functionDefinition kind="Java"><literalExpression><text>{}</text></literalExpression></functionDefinition>"#;
    assert_eq!(wrong(&probe::decision(java)), ["externalFunction"]);
    let groovy = r#"<literalExpression expressionLanguage="groovy"><text>1</text></literalExpression>"#;
    assert_eq!(wrong(&probe::decision(groovy)), ["expressionLanguage"]);
    let other =
        r#"<decision id="e" name="e"><literalExpression><text>1</text></literalExpression></decision>"#;
    let undeclared = format!("{}{other}", probe::decision(&probe::literal("e + 1")));
    assert_eq!(wrong(&undeclared), ["requirementNotDeclared"]);
    // D3.
    let refused = |source: &str| xml::read(source.as_bytes()).unwrap_err().reason;
    assert_eq!(refused(&format!("<!DOCTYPE d>{}", probe::document_in(xml::MODEL_NS, ""))), "dtdForbidden");
    let deep = format!("{}{}", "<list>".repeat(xml::MAX_NESTING + 1), "</list>".repeat(xml::MAX_NESTING + 1));
    assert_eq!(refused(&probe::document_in(xml::MODEL_NS, &probe::decision(&deep))), "nestingTooDeep");
    let many = "<a/>".repeat(xml::MAX_ELEMENTS);
    assert_eq!(refused(&probe::document_in(xml::MODEL_NS, &many)), "tooManyElements");
    assert_eq!(refused(&" ".repeat(xml::MAX_BYTES + 1)), "tooLarge");
    assert!(
        claims().deviations[2].text.contains("16 MiB, 256 nested elements, 500000 elements, or 40 levels")
    );
    // D4.
    let endless = "sum(for i in 1..1000000000 return i)";
    let source = probe::document_in(xml::MODEL_NS, &probe::decision(&probe::literal(endless)));
    let compiled = heddle_dmn::compile(&[xml::read(source.as_bytes()).unwrap().model]);
    let options = heddle_dmn::EvalOptions::new(heddle_kernel::Timestamp::from_micros(0));
    assert!(compiled.model.evaluate("d", &serde_json::Map::new(), &options).is_err());
    // D8.
    let digits = |text: &str| {
        let source = probe::document_in(xml::MODEL_NS, &probe::decision(&probe::literal(text)));
        let compiled = heddle_dmn::compile(&[xml::read(source.as_bytes()).unwrap().model]);
        heddle_feel::to_json(&compiled.model.evaluate("d", &serde_json::Map::new(), &options).unwrap().value)
    };
    assert_eq!(digits("1 / 3 * 3 = 1 - 1E-34"), serde_json::json!(true));
    assert!(digits("1 / 3").is_f64() && digits("10 ** 400").is_string());
    // D6.
    let later = probe::document_in("https://www.omg.org/spec/DMN/20240513/MODEL/", "");
    let imported = xml::read(later.as_bytes()).unwrap();
    assert_eq!((imported.version, imported.diagnostics[0].code.as_str()), (Version::V1_5, "unknownVersion"));
    // D7.
    let schema = r#"<import name="x" namespace="urn:x" importType="http://www.w3.org/2001/XMLSchema"/>"#;
    let typed = r#"<decision id="d" name="d"><variable name="d" typeRef="x.t"/><literalExpression><text>1</text>
        </literalExpression></decision>"#;
    assert_eq!(wrong(&format!("{schema}{typed}")), ["unknownType"]);
}
