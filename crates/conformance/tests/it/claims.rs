//! The claims against the standard's schema.

use std::fs;

use heddle_conformance::dmn::claims;

use crate::folders::suites;

/// Elements of the schema that are parts of others, which claims are made for.
const PARTS: [(&str, &str); 16] = [
    ("if", "conditional"),
    ("then", "conditional"),
    ("else", "conditional"),
    ("in", "for"),
    ("return", "for"),
    ("match", "filter"),
    ("satisfies", "every"),
    ("parameter", "binding"),
    ("text", "literalExpression"),
    ("sourceRef", "association"),
    ("targetRef", "association"),
    ("decisionMade", "organizationUnit"),
    ("decisionOwned", "organizationUnit"),
    ("impactingDecision", "performanceIndicator"),
    ("drgElement", "elementCollection"),
    ("importedElement", "importedValues"),
];
/// Abstract elements, and the one that `variable` is of.
const ABSTRACT: [&str; 7] = [
    "DMNElement",
    "artifact",
    "businessContextElement",
    "expression",
    "informationItem",
    "invocable",
    "namedElement",
];

#[test]
fn every_element_of_the_schema_is_claimed() {
    let Some(folder) = suites().map(|suites| suites.join("dmn-tck")) else { return };
    let schema = fs::read_to_string(folder.join("schemas/DMN15.xsd")).expect("the schema");
    let claims = claims();
    let lists = [&claims.elements, &claims.boxed_expressions, &claims.decision_tables];
    let claimed: Vec<&str> = lists.into_iter().flatten().map(|claim| claim.name).collect();
    let mut seen = 0;
    for found in schema.split("element name=\"").skip(1) {
        let name = found.split('"').next().unwrap_or_default();
        seen += 1;
        let owner = PARTS.iter().find(|(part, _)| *part == name).map_or(name, |(_, owner)| owner);
        assert!(claimed.contains(&owner) || ABSTRACT.contains(&name), "{name} is not claimed");
    }
    assert!(seen > 100, "{seen}");
}
