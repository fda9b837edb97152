//! Processes that tests run.

/// A BPMN file with one process of these elements.
pub(crate) fn process(id: &str, beside: &str, elements: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
    id="definitions" targetNamespace="urn:test">{beside}<process id="{id}" isExecutable="true">{elements}</process>
</definitions>"#
    )
}

/// Sequence flows `f0`, `f1`, ... through the nodes.
pub(crate) fn flows(nodes: &[&str]) -> String {
    let flow = |(at, pair): (usize, &[&str])| {
        format!(r#"<sequenceFlow id="f{at}" sourceRef="{}" targetRef="{}"/>"#, pair[0], pair[1])
    };
    nodes.windows(2).enumerate().map(flow).collect()
}

/// Start, a human task `work`, end.
pub(crate) fn task() -> String {
    let elements = r#"<startEvent id="start"/><userTask id="work" name="Work"/><endEvent id="end"/>"#;
    process("p", "", &format!("{elements}{}", flows(&["start", "work", "end"])))
}

/// Start, a timer `wait` of that duration, end.
pub(crate) fn timer(duration: &str) -> String {
    let elements = format!(
        r#"<startEvent id="start"/><intermediateCatchEvent id="wait"><timerEventDefinition id="t"><timeDuration
        xsi:type="tFormalExpression">{duration}</timeDuration></timerEventDefinition></intermediateCatchEvent>
        <endEvent id="end"/>"#
    );
    process("p", "", &format!("{elements}{}", flows(&["start", "wait", "end"])))
}

/// Start, optionally a human task `work`, the message `paid`, end.
pub(crate) fn message(with_task: bool) -> String {
    let (task, path): (_, &[&str]) = match with_task {
        true => (r#"<userTask id="work"/>"#, &["start", "work", "wait", "end"]),
        false => ("", &["start", "wait", "end"]),
    };
    let elements = format!(
        r#"<startEvent id="start"/>{task}<intermediateCatchEvent id="wait"><messageEventDefinition id="m"
        messageRef="paid"/></intermediateCatchEvent><endEvent id="end"/>{}"#,
        flows(path)
    );
    process("p", r#"<message id="paid" name="paid"/>"#, &elements)
}

/// A gateway with the conditions `way = "a"` and `way = "b"` and no default.
pub(crate) fn gateway() -> String {
    let elements = r#"<startEvent id="start"/><exclusiveGateway id="which"/><endEvent id="a"/><endEvent id="b"/>
        <sequenceFlow id="f0" sourceRef="start" targetRef="which"/>
        <sequenceFlow id="fa" sourceRef="which" targetRef="a"><conditionExpression
            xsi:type="tFormalExpression">way = "a"</conditionExpression></sequenceFlow>
        <sequenceFlow id="fb" sourceRef="which" targetRef="b"><conditionExpression
            xsi:type="tFormalExpression">way = "b"</conditionExpression></sequenceFlow>"#;
    process("p", "", elements)
}
