//! What static analysis finds in tables.

use heddle_dmn::{TableFinding, analyse, compile, xml};
use serde_json::json;

fn found(policy: &str, rules: &[[&str; 3]]) -> Vec<TableFinding> {
    let rules: String = rules
        .iter()
        .map(|[age, class, out]| {
            format!("<rule><inputEntry><text>{age}</text></inputEntry><inputEntry><text>{class}</text></inputEntry><outputEntry><text>{out}</text></outputEntry></rule>")
        })
        .collect();
    let source = format!(
        "<definitions xmlns=\"{}\" name=\"m\" namespace=\"urn:m\"><decision id=\"d\" name=\"d\"><decisionTable id=\"t\" hitPolicy=\"{policy}\"><input><inputExpression typeRef=\"number\"><text>age</text></inputExpression></input><input><inputExpression typeRef=\"string\"><text>class</text></inputExpression><inputValues><text>\"a\",\"b\"</text></inputValues></input><output typeRef=\"number\"/>{rules}</decisionTable></decision></definitions>",
        xml::MODEL_NS
    );
    analyse(&compile(&[xml::read(source.as_bytes()).expect("a model").model]).model)
}

fn codes(found: &[TableFinding]) -> Vec<&str> {
    found.iter().map(|finding| &*finding.diagnostic.code).collect()
}

#[test]
fn a_complete_table_has_no_findings() {
    let whole = [
        ["&lt; 18", "-", "1"],
        ["[18..65)", "\"a\"", "2"],
        ["[18..65)", "\"b\"", "3"],
        ["&gt;= 65", "-", "4"],
    ];
    assert!(found("UNIQUE", &whole).is_empty(), "{:?}", found("UNIQUE", &whole));
}

#[test]
fn overlaps_gaps_and_hidden_rules_have_examples() {
    let overlap = found("UNIQUE", &[["&lt;= 18", "-", "1"], ["&gt;= 18", "-", "2"]]);
    assert_eq!(codes(&overlap), ["tableOverlap"]);
    assert_eq!(overlap[0].rules, [1, 2]);
    assert_eq!(json!(overlap[0].example), json!({ "age": 18, "class": "a" }));

    let gap = found("UNIQUE", &[["&lt; 18", "-", "1"], ["&gt; 18", "-", "2"]]);
    assert_eq!(codes(&gap), ["tableGap"]);
    assert_eq!(json!(gap[0].example), json!({ "age": 18, "class": "a" }));

    let gap = found("UNIQUE", &[["-", "\"a\"", "1"], ["&lt; 5", "\"b\"", "2"]]);
    assert_eq!((codes(&gap), json!(gap[0].example)), (vec!["tableGap"], json!({ "age": 5, "class": "b" })));

    let hidden = found("FIRST", &[["&lt; 65", "-", "1"], ["&lt; 18", "\"a\"", "2"], ["-", "-", "3"]]);
    assert_eq!((codes(&hidden), hidden[0].rules.clone()), (vec!["tableUnreachable"], vec![1, 2]));

    let same = found("ANY", &[["&lt;= 18", "-", "1"], ["&gt;= 18", "-", "1"]]);
    assert!(same.is_empty(), "{same:?}");
}

#[test]
fn gaps_between_days_are_found_and_allowed_values_of_types_need_no_rule() {
    let table = |kind: &str, allowed: &str, tests: [&str; 2]| {
        let rules = tests.map(|test| {
            format!("<rule><inputEntry><text>{test}</text></inputEntry><outputEntry><text>1</text></outputEntry></rule>")
        });
        let source = format!(
            "<definitions xmlns=\"{}\" name=\"m\" namespace=\"urn:m\"><itemDefinition name=\"t\"><typeRef>{kind}</typeRef>{allowed}</itemDefinition><decision id=\"d\" name=\"d\"><decisionTable><input><inputExpression typeRef=\"t\"><text>x</text></inputExpression></input><output/>{}</decisionTable></decision></definitions>",
            xml::MODEL_NS,
            rules.concat()
        );
        analyse(&compile(&[xml::read(source.as_bytes()).expect("a model").model]).model)
    };
    let days = table("date", "", ["&lt; @\"2024-01-01\"", "&gt;= @\"2024-02-01\""]);
    assert_eq!((codes(&days), json!(days[0].example)), (vec!["tableGap"], json!({ "x": "2024-01-01" })));
    let days = table("date", "", ["&lt;= @\"2024-01-01\"", "&gt;= @\"2024-02-01\""]);
    assert_eq!((codes(&days), json!(days[0].example)), (vec!["tableGap"], json!({ "x": "2024-01-16" })));
    let days = table("date", "", ["&lt;= @\"2024-01-01\"", "&gt;= @\"2024-01-02\""]);
    assert!(days.is_empty(), "{days:?}");
    let words = "<allowedValues><text>\"a\",\"b\",\"c\"</text></allowedValues>";
    assert!(table("string", words, ["\"a\"", "\"b\",\"c\""]).is_empty());
    assert_eq!(json!(table("string", words, ["\"a\"", "\"b\""])[0].example), json!({ "x": "c" }));
}

#[test]
fn types_are_checked() {
    let wrong = found("UNIQUE", &[["\"x\"", "-", "1"], ["-", "-", "\"two\""]]);
    let codes = codes(&wrong);
    assert!(codes.contains(&"tableInputType") && codes.contains(&"tableOutputType"), "{codes:?}");
}
