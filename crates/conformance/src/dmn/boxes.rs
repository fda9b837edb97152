//! Boxed expressions, decision tables and diagrams (clauses 7, 8, 10.5 and 13), each with a model.

use super::Group;
use super::features::marked;
use super::probe::{Feature, Probe};
use Group::{Aggregation, Boxed, Diagram, HitPolicy, Table};
use Probe::Logic;

/// A table over the input `n`, which is 3.
macro_rules! table {
    ($attributes:literal, $outputs:expr, $rules:expr) => {
        concat!(
            r#"<decisionTable id="t" "#,
            $attributes,
            r#"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input>"#,
            $outputs,
            $rules,
            "</decisionTable>"
        )
    };
}

/// Three rules with one output, of which the first two match.
macro_rules! policy {
    ($attributes:literal, $first:literal, $second:literal) => {
        table!(
            $attributes,
            r#"<output id="to" name="o" typeRef="number"><outputValues id="ov"><text>20, 10, 5</text></outputValues></output>"#,
            concat!(
                r#"<rule id="r1"><inputEntry id="r1i"><text>&gt; 1</text></inputEntry><outputEntry id="r1o"><text>"#,
                $first,
                r#"</text></outputEntry></rule><rule id="r2"><inputEntry id="r2i"><text>&gt; 2</text></inputEntry><outputEntry
                id="r2o"><text>"#,
                $second,
                r#"</text></outputEntry></rule><rule id="r3"><inputEntry id="r3i"><text>&gt; 3</text></inputEntry><outputEntry
                id="r3o"><text>5</text></outputEntry></rule>"#
            )
        )
    };
}

const DRAWN: &str = r#"<dmndi:DMNStyle id="st" fontSize="9"/><dmndi:DMNDiagram id="dg" name="All"><dmndi:Size width="900" height="400"/><dmndi:DMNShape id="sh" dmnElementRef="d"><dc:Bounds x="10" y="10" width="100" height="60"/><dmndi:DMNLabel><dmndi:Text>d</dmndi:Text></dmndi:DMNLabel><dmndi:DMNDecisionServiceDividerLine><di:waypoint x="1" y="2"/><di:waypoint x="3" y="2"/></dmndi:DMNDecisionServiceDividerLine></dmndi:DMNShape><dmndi:DMNEdge id="eg" dmnElementRef="r"><di:waypoint x="1" y="2"/><di:waypoint x="3" y="4"/></dmndi:DMNEdge></dmndi:DMNDiagram>"#;

pub(super) const FEATURES: &[Feature] = &[
    // Boxed expressions.
    marked(
        Boxed,
        "literalExpression",
        "literalExpression",
        "7.3.5",
        1,
        Logic(r#"<literalExpression id="l"><text>n + 1</text></literalExpression>"#, "4"),
    ),
    marked(
        Boxed,
        "expressionLanguage",
        "expressionLanguage=",
        "7.3.5",
        1,
        Logic(
            r#"<literalExpression id="l" expressionLanguage="https://www.omg.org/spec/DMN/20230324/FEEL/"><text>n</text></literalExpression>"#,
            "3",
        ),
    ),
    marked(
        Boxed,
        "invocation",
        "invocation",
        "7.3.6",
        1,
        Logic(
            r#"<invocation id="n"><literalExpression id="nl"><text>abs</text></literalExpression><binding><parameter id="np" name="n"/><literalExpression id="nb"><text>-n</text></literalExpression></binding></invocation>"#,
            "3",
        ),
    ),
    marked(
        Boxed,
        "binding",
        "binding",
        "7.3.7",
        1,
        Logic(
            r#"<invocation id="n"><literalExpression id="nl"><text>abs</text></literalExpression><binding><parameter id="np" name="n"/><literalExpression id="nb"><text>-n</text></literalExpression></binding></invocation>"#,
            "3",
        ),
    ),
    marked(
        Boxed,
        "decisionTable",
        "decisionTable",
        "8.3.1",
        1,
        Logic(
            r#"<decisionTable id="t"><input id="ti"><inputExpression id="te"><text>n</text></inputExpression></input><output id="to"/><rule id="r1"><inputEntry id="a"><text>3</text></inputEntry><outputEntry id="b"><text>"three"</text></outputEntry></rule></decisionTable>"#,
            r#""three""#,
        ),
    ),
    marked(
        Boxed,
        "context",
        "context",
        "10.5.1",
        3,
        Logic(
            r#"<context id="c"><contextEntry id="c1"><variable id="c1v" name="a"/><literalExpression id="c1l"><text>n + 1</text></literalExpression></contextEntry><contextEntry id="c2"><literalExpression id="c2l"><text>a * 2</text></literalExpression></contextEntry></context>"#,
            "8",
        ),
    ),
    marked(
        Boxed,
        "contextEntry",
        "contextEntry",
        "10.5.2",
        3,
        Logic(
            r#"<context id="c"><contextEntry id="c1"><variable id="c1v" name="a"/><literalExpression id="c1l"><text>n + 1</text></literalExpression></contextEntry><contextEntry id="c2"><literalExpression id="c2l"><text>a * 2</text></literalExpression></contextEntry></context>"#,
            "8",
        ),
    ),
    marked(
        Boxed,
        "functionDefinition",
        "functionDefinition",
        "10.5.3",
        3,
        Logic(
            r#"<context id="c"><contextEntry id="c1"><variable id="c1v" name="f"/><functionDefinition id="fd"><formalParameter id="fp" name="m" typeRef="number"/><literalExpression id="fl"><text>m + n</text></literalExpression></functionDefinition></contextEntry><contextEntry id="c2"><literalExpression id="c2l"><text>f(1)</text></literalExpression></contextEntry></context>"#,
            "4",
        ),
    ),
    marked(
        Boxed,
        "formalParameter",
        "formalParameter",
        "10.5.3",
        3,
        Logic(
            r#"<context id="c"><contextEntry id="c1"><variable id="c1v" name="f"/><functionDefinition id="fd"><formalParameter id="fp" name="m" typeRef="number"/><literalExpression id="fl"><text>m + n</text></literalExpression></functionDefinition></contextEntry><contextEntry id="c2"><literalExpression id="c2l"><text>f(1)</text></literalExpression></contextEntry></context>"#,
            "4",
        ),
    ),
    marked(
        Boxed,
        "functionDefinition carried out by Java",
        r#"kind="Java""#,
        "10.5.3",
        3,
        Logic(
            r#"<context id="c"><contextEntry id="c1"><variable id="c1v" name="f"/><functionDefinition id="fd" kind="Java"><formalParameter id="fp" name="n"/><literalExpression id="fl"><text>{class: "java.lang.Math", method signature: "abs(double)"}</text></literalExpression></functionDefinition></contextEntry><contextEntry id="c2"><literalExpression id="c2l"><text>f(-1)</text></literalExpression></contextEntry></context>"#,
            "1",
        ),
    ),
    marked(
        Boxed,
        "functionDefinition carried out by PMML",
        r#"kind="PMML""#,
        "10.5.3",
        3,
        Logic(
            r#"<context id="c"><contextEntry id="c1"><variable id="c1v" name="f"/><functionDefinition id="fd" kind="PMML"><formalParameter id="fp" name="n"/><literalExpression id="fl"><text>{document: "urn:p", model: "m"}</text></literalExpression></functionDefinition></contextEntry><contextEntry id="c2"><literalExpression id="c2l"><text>f(-1)</text></literalExpression></contextEntry></context>"#,
            "1",
        ),
    ),
    marked(
        Boxed,
        "list",
        "list",
        "10.5.4",
        3,
        Logic(
            r#"<list id="ls"><literalExpression id="l1"><text>1</text></literalExpression><literalExpression id="l2"><text>n</text></literalExpression></list>"#,
            "[1, 3]",
        ),
    ),
    marked(
        Boxed,
        "relation",
        "relation",
        "10.5.5",
        3,
        Logic(
            r#"<relation id="re"><column id="rc" name="a"/><column id="rc2" name="b"/><row id="rr"><literalExpression id="l1"><text>1</text></literalExpression><literalExpression id="l2"><text>n</text></literalExpression></row></relation>"#,
            "[{a: 1, b: 3}]",
        ),
    ),
    marked(
        Boxed,
        "column",
        "column",
        "10.5.5",
        3,
        Logic(
            r#"<relation id="re"><column id="rc" name="a"/><column id="rc2" name="b"/><row id="rr"><literalExpression id="l1"><text>1</text></literalExpression><literalExpression id="l2"><text>n</text></literalExpression></row></relation>"#,
            "[{a: 1, b: 3}]",
        ),
    ),
    marked(
        Boxed,
        "row",
        "row",
        "10.5.5",
        3,
        Logic(
            r#"<relation id="re"><column id="rc" name="a"/><column id="rc2" name="b"/><row id="rr"><literalExpression id="l1"><text>1</text></literalExpression><literalExpression id="l2"><text>n</text></literalExpression></row></relation>"#,
            "[{a: 1, b: 3}]",
        ),
    ),
    marked(
        Boxed,
        "conditional",
        "conditional",
        "10.5.6",
        3,
        Logic(
            r#"<conditional id="co"><if><literalExpression id="l1"><text>n &gt; 2</text></literalExpression></if><then><literalExpression id="l2"><text>"more"</text></literalExpression></then><else><literalExpression id="l3"><text>"less"</text></literalExpression></else></conditional>"#,
            r#""more""#,
        ),
    ),
    marked(
        Boxed,
        "filter",
        "filter",
        "10.5.8",
        3,
        Logic(
            r#"<filter id="fi"><in><literalExpression id="l1"><text>[1, n, 5]</text></literalExpression></in><match><literalExpression id="l2"><text>item &gt; 2</text></literalExpression></match></filter>"#,
            "[3, 5]",
        ),
    ),
    marked(
        Boxed,
        "for",
        "for",
        "10.5.10",
        3,
        Logic(
            r#"<for id="fo" iteratorVariable="x"><in><literalExpression id="l1"><text>[1, n]</text></literalExpression></in><return><literalExpression id="l2"><text>x * 2</text></literalExpression></return></for>"#,
            "[2, 6]",
        ),
    ),
    marked(
        Boxed,
        "every",
        "every",
        "10.5.12",
        3,
        Logic(
            r#"<every id="ev" iteratorVariable="x"><in><literalExpression id="l1"><text>[1, n]</text></literalExpression></in><satisfies><literalExpression id="l2"><text>x &gt; 1</text></literalExpression></satisfies></every>"#,
            "false",
        ),
    ),
    marked(
        Boxed,
        "some",
        "some",
        "10.5.13",
        3,
        Logic(
            r#"<some id="so" iteratorVariable="x"><in><literalExpression id="l1"><text>[1, n]</text></literalExpression></in><satisfies><literalExpression id="l2"><text>x &gt; 1</text></literalExpression></satisfies></some>"#,
            "true",
        ),
    ),
    // Decision tables.
    marked(
        Table,
        "input",
        "input",
        "8.3.2",
        1,
        Logic(
            r#"<decisionTable id="t"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to" typeRef="number"/><rule id="r1"><inputEntry id="r1i"><text>&lt; 3</text></inputEntry><outputEntry id="r1o"><text>1</text></outputEntry></rule><rule id="r2"><inputEntry id="r2i"><text>[3..5)</text></inputEntry><outputEntry id="r2o"><text>n + 1</text></outputEntry></rule><rule id="r3"><inputEntry id="r3i"><text>not(&lt; 5)</text></inputEntry><outputEntry id="r3o"><text>0</text></outputEntry></rule></decisionTable>"#,
            "4",
        ),
    ),
    marked(
        Table,
        "inputExpression",
        "inputExpression",
        "8.3.2",
        1,
        Logic(
            r#"<decisionTable id="t"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to" typeRef="number"/><rule id="r1"><inputEntry id="r1i"><text>&lt; 3</text></inputEntry><outputEntry id="r1o"><text>1</text></outputEntry></rule><rule id="r2"><inputEntry id="r2i"><text>[3..5)</text></inputEntry><outputEntry id="r2o"><text>n + 1</text></outputEntry></rule><rule id="r3"><inputEntry id="r3i"><text>not(&lt; 5)</text></inputEntry><outputEntry id="r3o"><text>0</text></outputEntry></rule></decisionTable>"#,
            "4",
        ),
    ),
    marked(
        Table,
        "output",
        "output",
        "8.3.2",
        1,
        Logic(
            r#"<decisionTable id="t"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to" typeRef="number"/><rule id="r1"><inputEntry id="r1i"><text>&lt; 3</text></inputEntry><outputEntry id="r1o"><text>1</text></outputEntry></rule><rule id="r2"><inputEntry id="r2i"><text>[3..5)</text></inputEntry><outputEntry id="r2o"><text>n + 1</text></outputEntry></rule><rule id="r3"><inputEntry id="r3i"><text>not(&lt; 5)</text></inputEntry><outputEntry id="r3o"><text>0</text></outputEntry></rule></decisionTable>"#,
            "4",
        ),
    ),
    marked(
        Table,
        "rule",
        "rule",
        "8.3.3",
        1,
        Logic(
            r#"<decisionTable id="t"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to" typeRef="number"/><rule id="r1"><inputEntry id="r1i"><text>&lt; 3</text></inputEntry><outputEntry id="r1o"><text>1</text></outputEntry></rule><rule id="r2"><inputEntry id="r2i"><text>[3..5)</text></inputEntry><outputEntry id="r2o"><text>n + 1</text></outputEntry></rule><rule id="r3"><inputEntry id="r3i"><text>not(&lt; 5)</text></inputEntry><outputEntry id="r3o"><text>0</text></outputEntry></rule></decisionTable>"#,
            "4",
        ),
    ),
    marked(
        Table,
        "inputEntry",
        "inputEntry",
        "8.3.3",
        1,
        Logic(
            r#"<decisionTable id="t"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to" typeRef="number"/><rule id="r1"><inputEntry id="r1i"><text>&lt; 3</text></inputEntry><outputEntry id="r1o"><text>1</text></outputEntry></rule><rule id="r2"><inputEntry id="r2i"><text>[3..5)</text></inputEntry><outputEntry id="r2o"><text>n + 1</text></outputEntry></rule><rule id="r3"><inputEntry id="r3i"><text>not(&lt; 5)</text></inputEntry><outputEntry id="r3o"><text>0</text></outputEntry></rule></decisionTable>"#,
            "4",
        ),
    ),
    marked(
        Table,
        "outputEntry",
        "outputEntry",
        "8.3.3",
        1,
        Logic(
            r#"<decisionTable id="t"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to" typeRef="number"/><rule id="r1"><inputEntry id="r1i"><text>&lt; 3</text></inputEntry><outputEntry id="r1o"><text>1</text></outputEntry></rule><rule id="r2"><inputEntry id="r2i"><text>[3..5)</text></inputEntry><outputEntry id="r2o"><text>n + 1</text></outputEntry></rule><rule id="r3"><inputEntry id="r3i"><text>not(&lt; 5)</text></inputEntry><outputEntry id="r3o"><text>0</text></outputEntry></rule></decisionTable>"#,
            "4",
        ),
    ),
    marked(
        Table,
        "input entry that does not matter",
        "inputEntry",
        "8.2.7",
        1,
        Logic(
            r#"<decisionTable id="t"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to"/><rule id="r1"><inputEntry id="r1i"><text>-</text></inputEntry><outputEntry id="r1o"><text>7</text></outputEntry></rule></decisionTable>"#,
            "7",
        ),
    ),
    marked(
        Table,
        "inputValues",
        "inputValues",
        "8.3.2",
        1,
        Logic(
            r#"<decisionTable id="t"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression><inputValues id="tv"><text>[1..2]</text></inputValues></input><output id="to"/><rule id="r1"><inputEntry id="r1i"><text>-</text></inputEntry><outputEntry id="r1o"><text>7</text></outputEntry></rule></decisionTable>"#,
            "null",
        ),
    ),
    marked(
        Table,
        "several outputs",
        "outputEntry",
        "8.2.6",
        1,
        Logic(
            r#"<decisionTable id="t"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to" name="a"/><output id="to2" name="b"/><rule id="r1"><inputEntry id="r1i"><text>3</text></inputEntry><outputEntry id="r1o"><text>7</text></outputEntry><outputEntry id="r1p"><text>8</text></outputEntry></rule></decisionTable>"#,
            "{a: 7, b: 8}",
        ),
    ),
    marked(
        Table,
        "outputValues",
        "outputValues",
        "8.3.2",
        1,
        Logic(
            r#"<decisionTable id="t" hitPolicy="PRIORITY"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to"><outputValues id="ov"><text>"high", "low"</text></outputValues></output><rule id="r1"><inputEntry id="r1i"><text>3</text></inputEntry><outputEntry id="r1o"><text>"low"</text></outputEntry></rule><rule id="r2"><inputEntry id="r2i"><text>3</text></inputEntry><outputEntry id="r2o"><text>"high"</text></outputEntry></rule></decisionTable>"#,
            r#""high""#,
        ),
    ),
    marked(
        Table,
        "defaultOutputEntry",
        "defaultOutputEntry",
        "8.2.11",
        1,
        Logic(
            r#"<decisionTable id="t"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to"><defaultOutputEntry id="od"><text>9</text></defaultOutputEntry></output><rule id="r1"><inputEntry id="r1i"><text>4</text></inputEntry><outputEntry id="r1o"><text>7</text></outputEntry></rule></decisionTable>"#,
            "9",
        ),
    ),
    marked(
        Table,
        "annotation",
        "annotation",
        "8.3.1",
        1,
        Logic(
            r#"<decisionTable id="t" outputLabel="Rate" preferredOrientation="Rule-as-Column"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to"/><annotation name="why"/><rule id="r1"><inputEntry id="r1i"><text>3</text></inputEntry><outputEntry id="r1o"><text>7</text></outputEntry><annotationEntry><text>because</text></annotationEntry></rule></decisionTable>"#,
            "7",
        ),
    ),
    marked(
        Table,
        "annotationEntry",
        "annotationEntry",
        "8.3.3",
        1,
        Logic(
            r#"<decisionTable id="t" outputLabel="Rate" preferredOrientation="Rule-as-Column"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to"/><annotation name="why"/><rule id="r1"><inputEntry id="r1i"><text>3</text></inputEntry><outputEntry id="r1o"><text>7</text></outputEntry><annotationEntry><text>because</text></annotationEntry></rule></decisionTable>"#,
            "7",
        ),
    ),
    marked(
        Table,
        "outputLabel",
        r#"outputLabel="Rate""#,
        "8.3.1",
        1,
        Logic(
            r#"<decisionTable id="t" outputLabel="Rate" preferredOrientation="Rule-as-Column"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to"/><annotation name="why"/><rule id="r1"><inputEntry id="r1i"><text>3</text></inputEntry><outputEntry id="r1o"><text>7</text></outputEntry><annotationEntry><text>because</text></annotationEntry></rule></decisionTable>"#,
            "7",
        ),
    ),
    marked(
        Table,
        "preferredOrientation",
        r#"preferredOrientation="Rule-as-Column""#,
        "8.2.2",
        1,
        Logic(
            r#"<decisionTable id="t" outputLabel="Rate" preferredOrientation="Rule-as-Column"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to"/><annotation name="why"/><rule id="r1"><inputEntry id="r1i"><text>3</text></inputEntry><outputEntry id="r1o"><text>7</text></outputEntry><annotationEntry><text>because</text></annotationEntry></rule></decisionTable>"#,
            "7",
        ),
    ),
    // Hit policies and aggregations.
    marked(
        HitPolicy,
        "UNIQUE",
        r#"hitPolicy="UNIQUE""#,
        "8.2.10",
        1,
        Logic(
            r#"<decisionTable id="t" hitPolicy="UNIQUE"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to"/><rule id="r1"><inputEntry id="r1i"><text>3</text></inputEntry><outputEntry id="r1o"><text>7</text></outputEntry></rule><rule id="r2"><inputEntry id="r2i"><text>4</text></inputEntry><outputEntry id="r2o"><text>8</text></outputEntry></rule></decisionTable>"#,
            "7",
        ),
    ),
    marked(
        HitPolicy,
        "FIRST",
        r#"hitPolicy="FIRST""#,
        "8.2.10",
        1,
        Logic(policy!(r#"hitPolicy="FIRST""#, "10", "20"), "10"),
    ),
    marked(
        HitPolicy,
        "PRIORITY",
        r#"hitPolicy="PRIORITY""#,
        "8.2.10",
        1,
        Logic(policy!(r#"hitPolicy="PRIORITY""#, "10", "20"), "20"),
    ),
    marked(
        HitPolicy,
        "ANY",
        r#"hitPolicy="ANY""#,
        "8.2.10",
        1,
        Logic(policy!(r#"hitPolicy="ANY""#, "10", "10"), "10"),
    ),
    marked(
        HitPolicy,
        "COLLECT",
        r#"hitPolicy="COLLECT""#,
        "8.2.10",
        1,
        Logic(policy!(r#"hitPolicy="COLLECT""#, "10", "20"), "[10, 20]"),
    ),
    marked(
        HitPolicy,
        "RULE ORDER",
        r#"hitPolicy="RULE ORDER""#,
        "8.2.10",
        1,
        Logic(policy!(r#"hitPolicy="RULE ORDER""#, "10", "20"), "[10, 20]"),
    ),
    marked(
        HitPolicy,
        "OUTPUT ORDER",
        r#"hitPolicy="OUTPUT ORDER""#,
        "8.2.10",
        1,
        Logic(policy!(r#"hitPolicy="OUTPUT ORDER""#, "10", "20"), "[20, 10]"),
    ),
    marked(
        Aggregation,
        "SUM",
        r#"aggregation="SUM""#,
        "8.2.10",
        1,
        Logic(policy!(r#"hitPolicy="COLLECT" aggregation="SUM""#, "10", "20"), "30"),
    ),
    marked(
        Aggregation,
        "COUNT",
        r#"aggregation="COUNT""#,
        "8.2.10",
        1,
        Logic(policy!(r#"hitPolicy="COLLECT" aggregation="COUNT""#, "10", "20"), "2"),
    ),
    marked(
        Aggregation,
        "MIN",
        r#"aggregation="MIN""#,
        "8.2.10",
        1,
        Logic(policy!(r#"hitPolicy="COLLECT" aggregation="MIN""#, "10", "20"), "10"),
    ),
    marked(
        Aggregation,
        "MAX",
        r#"aggregation="MAX""#,
        "8.2.10",
        1,
        Logic(policy!(r#"hitPolicy="COLLECT" aggregation="MAX""#, "10", "20"), "20"),
    ),
    // Diagrams.
    marked(Diagram, "DMNDI", "dmndi:DMNDI", "13.4.2", 0, Probe::Diagram(DRAWN)),
    marked(Diagram, "DMNDiagram", "dmndi:DMNDiagram", "13.4.3", 0, Probe::Diagram(DRAWN)),
    marked(Diagram, "DMNShape", "dmndi:DMNShape", "13.4.5", 0, Probe::Diagram(DRAWN)),
    marked(Diagram, "Bounds", "dc:Bounds", "13.4.5", 0, Probe::Diagram(DRAWN)),
    marked(Diagram, "DMNEdge", "dmndi:DMNEdge", "13.4.6", 0, Probe::Diagram(DRAWN)),
    marked(Diagram, "waypoint", "di:waypoint", "13.4.6", 0, Probe::Diagram(DRAWN)),
    marked(Diagram, "DMNLabel", "dmndi:DMNLabel", "13.4.7", 0, Probe::Diagram(DRAWN)),
    marked(Diagram, "DMNStyle", "dmndi:DMNStyle", "13.4.8", 0, Probe::Diagram(DRAWN)),
    marked(Diagram, "Size", "dmndi:Size", "13.4.3", 0, Probe::Diagram(DRAWN)),
    marked(
        Diagram,
        "DMNDecisionServiceDividerLine",
        "dmndi:DMNDecisionServiceDividerLine",
        "13.4.5",
        0,
        Probe::Diagram(DRAWN),
    ),
];
