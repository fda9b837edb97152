//! A decision read, compiled and evaluated over JSON.

use heddle_dmn::{EvalOptions, compile, xml};
use heddle_kernel::Timestamp;

const FARES: &[u8] =
    br##"<definitions xmlns="https://www.omg.org/spec/DMN/20230324/MODEL/" name="Fares" namespace="urn:f">
  <inputData id="age" name="Applicant Age"><variable name="Applicant Age" typeRef="number"/></inputData>
  <decision id="class" name="Fare Class"><variable name="Fare Class"/>
    <informationRequirement><requiredInput href="#age"/></informationRequirement>
    <literalExpression><text>if Applicant Age &lt; 18 then "child" else "adult"</text></literalExpression>
  </decision></definitions>"##;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let compiled = compile(&[xml::read(FARES)?.model]); // the model first, then the models that it imports
    assert!(compiled.diagnostics.is_empty(), "{:?}", compiled.diagnostics);
    let input = serde_json::json!({"Applicant Age": 17});
    let input = input.as_object().ok_or("no object")?;
    let outcome =
        compiled.model.evaluate("Fare Class", input, &EvalOptions::new(Timestamp::from_micros(0)))?;
    assert_eq!(outcome.value.as_str(), Some("child"), "{:?}", outcome.reasons);
    Ok(())
}
