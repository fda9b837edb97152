//! An expression compiled and evaluated over JSON.

use heddle_feel::{Dialect, EvalContext, Expression};
use heddle_kernel::Timestamp;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = "if sum(items.price) > 100 then \"free\" else \"paid\"";
    let expression = Expression::compile(text, Dialect::Standard)?;
    let data = serde_json::json!({"items": [{"price": 70}, {"price": 45.5}]});
    let variables = data.as_object().ok_or("no object")?;
    let evaluated = expression.evaluate(variables, &EvalContext { now: Timestamp::from_micros(0) })?;
    assert_eq!(evaluated.value.as_str(), Some("free"));
    Ok(())
}
