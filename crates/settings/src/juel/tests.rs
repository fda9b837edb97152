use super::*;
use heddle_feel::{Dialect, EvalContext, Expression, to_json};
use heddle_kernel::Timestamp;
use serde_json::{Value, json};

fn run(feel: &str, scope: &Value) -> Value {
    let expression =
        Expression::compile(feel, Dialect::Heddle).unwrap_or_else(|error| panic!("{feel}: {error}"));
    let context = EvalContext { now: Timestamp::from_micros(0) };
    to_json(&expression.evaluate(scope.as_object().unwrap(), &context).unwrap().value)
}

fn scope() -> Value {
    json!({
        "amount": 1500, "zero": 0, "approved": true, "denied": false, "nothing": null, "status": "open",
        "order": {"id": "o-1", "total": 99.5, "lines": [{"sku": "a"}, {"sku": "b"}], "ship to": "Graz"},
        "list": [], "map": {}, "blank": "", "for": 3, "$x": 4, "größe": 5, "digits": "7", "days": 3,
        "loopCounter": 2, "nrOfInstances": 4, "nrOfCompletedInstances": 2
    })
}

#[test]
fn values_are_those_of_juel() {
    for (juel, expected) in [
        ("${amount}", json!(1500)),
        ("#{order.id}", json!("o-1")),
        ("  ${ order.lines[1].sku }\n", json!("b")),
        ("${order['ship to']}", json!("Graz")),
        ("${order[\"total\"] * 2}", json!(199)),
        ("${order[0]}", json!(null)),
        ("${nothing + 1}", json!(1)),
        ("${nothing.a.b}", json!(null)),
        ("${amount + zero}", json!(1500)),
        ("${1 + 2 * 3 - -4}", json!(11)),
        ("${(1 + 2) * 3}", json!(9)),
        ("${amount / 1000}", json!(1.5)),
        ("${amount > 1000 && approved}", json!(true)),
        ("${nothing > 1000}", json!(false)),
        ("${nothing and approved}", json!(false)),
        ("${!(nothing > 1000)}", json!(true)),
        ("${not nothing}", json!(true)),
        ("${(nothing > 5) == false}", json!(true)),
        ("${nothing == null}", json!(true)),
        ("${nothing <= nothing}", json!(true)),
        ("${status eq 'open' or denied}", json!(true)),
        ("${status ne \"open\"}", json!(false)),
        ("${amount != 'open'}", json!(true)),
        ("${empty nothing && empty blank && empty list && empty map}", json!(true)),
        ("${empty status || empty order || empty zero}", json!(false)),
        ("${!empty order.lines}", json!(true)),
        ("${amount ge 1500 ? 'big' : 'small'}", json!("big")),
        ("${denied ? 1 : approved ? 2 : 3}", json!(2)),
        ("${`for`}", json!(null)),
        ("${$x + größe}", json!(9)),
        ("${'it\\'s \"so\"'}", json!("it's \"so\"")),
        ("${execution.getVariable('status')}", json!("open")),
        ("${caseInstance.getVariable('status')}", json!("open")),
        ("${execution.hasVariable('status') && !execution.hasVariable('none')}", json!(true)),
        ("${amount / days}", json!(500)),
        ("${amount / zero}", json!(null)),
        ("${amount % 7}", json!(2)),
        ("${-8 mod 3}", json!(-2)),
        ("${order.lines[days - 2].sku}", json!("b")),
        ("${order[status]}", json!(null)),
        ("${order.lines.get(0).sku}", json!("a")),
        ("${order.lines.size() > 1}", json!(true)),
        ("${order.size()}", json!(4)),
        ("${list.isEmpty()}", json!(true)),
        ("${status.equals('open')}", json!(true)),
        ("${status.toUpperCase()} now", json!("OPEN now")),
        ("${status.contains('pe') && status.startsWith('o') && status.endsWith('n')}", json!(true)),
        ("${status.equalsIgnoreCase('OPEN')}", json!(true)),
        ("${order.containsKey('id')}", json!(true)),
        ("${order.prop(\"total\").numberValue() >= 21}", json!(true)),
        ("${JSON('{\"a\": 1}').prop('a')}", json!(1)),
        ("${status.length()}", json!(4)),
        ("${loopCounter + 1}", json!(3)),
        ("${vars:getOrDefault(none, 7)}", json!(7)),
        ("${variables:getOrDefault('amount', 7) + 1}", json!(1501)),
        ("${vars:get(status)}", json!("open")),
        ("${var:exists(nothing) || var:notExists(amount)}", json!(false)),
        ("${var:isEmpty(blank) && vars:notEmpty(status)}", json!(true)),
        ("${vars:lt(amount, 2000) && vars:ne(status, 'shut') && vars:contains(status, 'pe')}", json!(true)),
        ("${vars:greaterThan(none, 1)}", json!(false)),
        ("${approved ? amount : vars:get(days)}", json!(1500)),
        ("${nrOfCompletedInstances/nrOfInstances >= 0.5}", json!(true)),
        ("PT${days}H", json!("PT3H")),
        ("Order ${order.id}: ${nothing}!", json!("Order o-1: !")),
        ("\\${amount} is ${amount}", json!("${amount} is 1500")),
    ] {
        match value(juel) {
            Ok(feel) => assert_eq!(run(&feel, &scope()), expected, "{juel} became {feel}"),
            Err(error) => assert_eq!(juel, "${`for`}", "{error}"),
        }
    }
    assert_eq!(run(&value("${for}").unwrap(), &scope()), json!(3));
}

#[test]
fn instants_are_computed() {
    for (juel, expected) in [
        ("${now()}", "now()"),
        ("${dateTime().plusDays(3).toDate()}", "(now() + duration(\"P3D\"))"),
        ("${dateTime().plusWeeks(1)}", "(now() + duration(\"P7D\"))"),
        ("${dateTime().minusHours(2).plusMinutes(5)}", "((now() - duration(\"PT2H\")) + duration(\"PT5M\"))"),
        ("${dateTime().plusDays(days)}", "(now() + get or else(days, 0) * duration(\"P1D\"))"),
    ] {
        assert_eq!(value(juel).unwrap(), expected);
    }
    let moved = run(&value("${dateTime().plusDays(days).toDate()}").unwrap(), &scope());
    assert!(moved.as_str().is_some_and(|text| text.starts_with("1970-01-04T00:00:00")), "{moved}");
}

#[test]
fn a_condition_is_true_exactly_when_juels_is() {
    for (juel, expected) in [
        ("${approved}", true),
        ("${nothing}", false),
        ("${nothing > 1 || approved}", true),
        ("${!(nothing > 1 && approved)}", true),
        ("${amount > 1000 and status == 'open'}", true),
        ("${digits > 8}", false),
    ] {
        let feel = condition(juel).unwrap();
        assert_eq!(run(&feel, &scope()) == json!(true), expected, "{juel} became {feel}");
    }
}

#[test]
fn what_has_no_counterpart_is_refused_with_the_reason() {
    for (juel, expected) in [
        ("${service.check(order)}", "method call `check(…)`"),
        ("${uuid()}", "function `uuid(…)`"),
        ("${vars:base64(status)}", "function `vars:base64(…)`"),
        ("${vars:get(status, 1, 2)}", "function `vars:get(…)`"),
        ("${vars:get(order.id)}", "function `vars:get(…)`"),
        ("${task.name.trim()}", "`task` is an object"),
        ("${logger.execute(execution)}", "method call `execute(…)`"),
        ("${start.plusDays(2)}", "method call `plusDays(…)`"),
        ("${status.matches('a')}", "method call `matches(…)`"),
        ("${execution.businessKey}", "`execution` is an object"),
        ("${task}", "`task` is an object"),
        ("${status + 'x'}", "arithmetic with a text"),
        ("${a instanceof b}", "`instanceof` is not expected"),
        ("${1e3}", "number"),
        ("${a", "closing brace"),
        ("${'a}", "closing quote"),
        ("${}", "the closing brace is not expected"),
        ("${a b}", "`b` is not expected"),
        ("${a ? b}", "the closing brace is not expected"),
        ("${a ~ b}", "`~` is no sign"),
    ] {
        let error = value(juel).expect_err(juel);
        assert!(error.0.contains(expected), "{juel}: {error}");
    }
    assert!(condition("${a} and ${b}").is_err());
}

#[test]
fn hostile_texts_are_bounded() {
    let deep = format!("${{{}a{}}}", "(".repeat(5000), ")".repeat(5000));
    assert!(value(&deep).unwrap_err().0.contains("deeper"));
    assert!(value(&format!("${{{}a}}", "!".repeat(5000))).unwrap_err().0.contains("deeper"));
    assert!(value(&format!("${{a{}}}", " + a".repeat(3000))).unwrap_err().0.contains("parts"));
    assert!(value(&"${a}".repeat(3000)).unwrap_err().0.contains("parts"));
    let doubling = format!("${{a{}}}", "[0]".repeat(200));
    assert!(value(&doubling).unwrap_err().0.contains("too long"));
    for chain in [" + a".repeat(200), " && a".repeat(200), " == a".repeat(200), " ? 1 : 2".to_owned()] {
        value(&format!("${{a{chain}}}")).unwrap();
    }
    assert!(value(&"x".repeat(20_000)).unwrap_err().0.contains("longer"));
}
