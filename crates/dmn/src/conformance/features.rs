//! Elements, boxed expressions, decision tables and diagrams (clauses 6, 7, 8, 10.5 and 13), each with a model.

use super::Group;
use super::probe::{Feature, Probe};
use Group::{Aggregation, Boxed, Diagram, Element, HitPolicy, Table};
use Probe::{Kept, Logic, Model};

const fn element(name: &'static str, clause: &'static str, probe: Probe) -> Feature {
    Feature { group: Element, name, clause, level: 1, mark: name, probe }
}

const fn marked(
    group: Group,
    (name, mark): (&'static str, &'static str),
    clause: &'static str,
    level: u8,
    probe: Probe,
) -> Feature {
    Feature { group, name, clause, level, mark, probe }
}

/// A decision that is the number 1.
macro_rules! one {
    ($more:literal) => {
        concat!(
            r#"<decision id="d" name="d">"#,
            $more,
            r#"<variable id="v" name="d"/><literalExpression id="l"><text>1</text></literalExpression></decision>"#
        )
    };
}

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
    // The requirements graph.
    element("definitions", "6.3.2", Model(one!(""), "1")),
    marked(
        Element,
        ("description", "description"),
        "6.3.1",
        1,
        Model(one!("<description>What it is for.</description>"), "1"),
    ),
    marked(
        Element,
        ("label", r#"label="What""#),
        "6.3.1",
        1,
        Model(
            r#"<decision id="d" name="d" label="What"><variable id="v" name="d"/><literalExpression id="l"><text>1</text></literalExpression></decision>"#,
            "1",
        ),
    ),
    element(
        "import",
        "6.3.3",
        Model(
            r#"<import id="im" name="other" namespace="urn:other" importType="https://www.omg.org/spec/DMN/20230324/MODEL/"/><decision id="d" name="d"><variable id="v" name="d"/><informationRequirement id="r"><requiredDecision href="urn:other#od"/></informationRequirement><literalExpression id="l"><text>other.four + 1</text></literalExpression></decision>"#,
            "5",
        ),
    ),
    element(
        "decision",
        "6.3.7",
        Model(
            r#"<decision id="d" name="d"><variable id="v" name="d"/><literalExpression id="l"><text>1</text></literalExpression></decision>"#,
            "1",
        ),
    ),
    element("question", "6.3.7", Kept(one!("<question>How many?</question>"))),
    element("allowedAnswers", "6.3.7", Kept(one!("<allowedAnswers>Any number</allowedAnswers>"))),
    element(
        "inputData",
        "6.3.11",
        Model(
            r##"<inputData id="i" name="n"><variable id="iv" name="n" typeRef="number"/></inputData><decision id="d" name="d"><variable id="v" name="d"/><informationRequirement id="r"><requiredInput href="#i"/></informationRequirement><literalExpression id="l"><text>n + 1</text></literalExpression></decision>"##,
            "4",
        ),
    ),
    element(
        "variable",
        "7.3.4",
        Model(
            r##"<inputData id="i" name="n"><variable id="iv" name="n" typeRef="number"/></inputData><decision id="d" name="d"><variable id="v" name="d"/><informationRequirement id="r"><requiredInput href="#i"/></informationRequirement><literalExpression id="l"><text>n * 2</text></literalExpression></decision>"##,
            "6",
        ),
    ),
    element(
        "informationRequirement",
        "6.3.13",
        Model(
            r##"<inputData id="i" name="n"><variable id="iv" name="n" typeRef="number"/></inputData><decision id="d" name="d"><variable id="v" name="d"/><informationRequirement id="r"><requiredInput href="#i"/></informationRequirement><literalExpression id="l"><text>n - 1</text></literalExpression></decision>"##,
            "2",
        ),
    ),
    element(
        "requiredInput",
        "6.3.13",
        Model(
            r##"<inputData id="i" name="n"><variable id="iv" name="n" typeRef="number"/></inputData><decision id="d" name="d"><variable id="v" name="d"/><informationRequirement id="r"><requiredInput href="#i"/></informationRequirement><literalExpression id="l"><text>n - 1</text></literalExpression></decision>"##,
            "2",
        ),
    ),
    element(
        "requiredDecision",
        "6.3.13",
        Model(
            r##"<decision id="e" name="e"><variable id="v2" name="e"/><literalExpression id="l2"><text>2</text></literalExpression></decision><decision id="d" name="d"><variable id="v" name="d"/><informationRequirement id="r"><requiredDecision href="#e"/></informationRequirement><literalExpression id="l"><text>e + 1</text></literalExpression></decision>"##,
            "3",
        ),
    ),
    element(
        "businessKnowledgeModel",
        "6.3.9",
        Model(
            r##"<businessKnowledgeModel id="b" name="twice"><variable id="bv" name="twice"/><encapsulatedLogic id="be"><formalParameter id="bp" name="n" typeRef="number"/><literalExpression id="bl"><text>n * 2</text></literalExpression></encapsulatedLogic></businessKnowledgeModel><decision id="d" name="d"><variable id="v" name="d"/><knowledgeRequirement id="k"><requiredKnowledge href="#b"/></knowledgeRequirement><literalExpression id="l"><text>twice(4)</text></literalExpression></decision>"##,
            "8",
        ),
    ),
    element(
        "encapsulatedLogic",
        "6.3.9",
        Model(
            r##"<businessKnowledgeModel id="b" name="twice"><variable id="bv" name="twice"/><encapsulatedLogic id="be"><formalParameter id="bp" name="n" typeRef="number"/><literalExpression id="bl"><text>n * 2</text></literalExpression></encapsulatedLogic></businessKnowledgeModel><decision id="d" name="d"><variable id="v" name="d"/><knowledgeRequirement id="k"><requiredKnowledge href="#b"/></knowledgeRequirement><literalExpression id="l"><text>twice(4)</text></literalExpression></decision>"##,
            "8",
        ),
    ),
    element(
        "knowledgeRequirement",
        "6.3.14",
        Model(
            r##"<businessKnowledgeModel id="b" name="twice"><variable id="bv" name="twice"/><encapsulatedLogic id="be"><formalParameter id="bp" name="n" typeRef="number"/><literalExpression id="bl"><text>n * 2</text></literalExpression></encapsulatedLogic></businessKnowledgeModel><decision id="d" name="d"><variable id="v" name="d"/><knowledgeRequirement id="k"><requiredKnowledge href="#b"/></knowledgeRequirement><literalExpression id="l"><text>twice(4)</text></literalExpression></decision>"##,
            "8",
        ),
    ),
    element(
        "requiredKnowledge",
        "6.3.14",
        Model(
            r##"<businessKnowledgeModel id="b" name="twice"><variable id="bv" name="twice"/><encapsulatedLogic id="be"><formalParameter id="bp" name="n" typeRef="number"/><literalExpression id="bl"><text>n * 2</text></literalExpression></encapsulatedLogic></businessKnowledgeModel><decision id="d" name="d"><variable id="v" name="d"/><knowledgeRequirement id="k"><requiredKnowledge href="#b"/></knowledgeRequirement><literalExpression id="l"><text>twice(4)</text></literalExpression></decision>"##,
            "8",
        ),
    ),
    element(
        "decisionService",
        "6.3.10",
        Model(
            r##"<inputData id="i" name="n"><variable id="iv" name="n"/></inputData><decision id="a" name="a"><variable id="av" name="a"/><informationRequirement id="ar"><requiredInput href="#i"/></informationRequirement><literalExpression id="al"><text>n + 1</text></literalExpression></decision><decision id="c" name="c"><variable id="cv" name="c"/><literalExpression id="cl"><text>100</text></literalExpression></decision><decision id="e" name="e"><variable id="ev" name="e"/><informationRequirement id="er"><requiredDecision href="#a"/></informationRequirement><informationRequirement id="er2"><requiredDecision href="#c"/></informationRequirement><literalExpression id="el"><text>a * 10 + c</text></literalExpression></decision><decisionService id="s" name="serve"><variable id="sv" name="serve"/><outputDecision href="#e"/><encapsulatedDecision href="#a"/><inputDecision href="#c"/><inputData href="#i"/></decisionService><decision id="d" name="d"><variable id="v" name="d"/><knowledgeRequirement id="k"><requiredKnowledge href="#s"/></knowledgeRequirement><literalExpression id="l"><text>serve(4, 5)</text></literalExpression></decision>"##,
            "55",
        ),
    ),
    element(
        "outputDecision",
        "6.3.10",
        Model(
            r##"<inputData id="i" name="n"><variable id="iv" name="n"/></inputData><decision id="a" name="a"><variable id="av" name="a"/><informationRequirement id="ar"><requiredInput href="#i"/></informationRequirement><literalExpression id="al"><text>n + 1</text></literalExpression></decision><decision id="c" name="c"><variable id="cv" name="c"/><literalExpression id="cl"><text>100</text></literalExpression></decision><decision id="e" name="e"><variable id="ev" name="e"/><informationRequirement id="er"><requiredDecision href="#a"/></informationRequirement><informationRequirement id="er2"><requiredDecision href="#c"/></informationRequirement><literalExpression id="el"><text>a * 10 + c</text></literalExpression></decision><decisionService id="s" name="serve"><variable id="sv" name="serve"/><outputDecision href="#e"/><encapsulatedDecision href="#a"/><inputDecision href="#c"/><inputData href="#i"/></decisionService><decision id="d" name="d"><variable id="v" name="d"/><knowledgeRequirement id="k"><requiredKnowledge href="#s"/></knowledgeRequirement><literalExpression id="l"><text>serve(4, 5)</text></literalExpression></decision>"##,
            "55",
        ),
    ),
    element(
        "encapsulatedDecision",
        "6.3.10",
        Model(
            r##"<inputData id="i" name="n"><variable id="iv" name="n"/></inputData><decision id="a" name="a"><variable id="av" name="a"/><informationRequirement id="ar"><requiredInput href="#i"/></informationRequirement><literalExpression id="al"><text>n + 1</text></literalExpression></decision><decision id="c" name="c"><variable id="cv" name="c"/><literalExpression id="cl"><text>100</text></literalExpression></decision><decision id="e" name="e"><variable id="ev" name="e"/><informationRequirement id="er"><requiredDecision href="#a"/></informationRequirement><informationRequirement id="er2"><requiredDecision href="#c"/></informationRequirement><literalExpression id="el"><text>a * 10 + c</text></literalExpression></decision><decisionService id="s" name="serve"><variable id="sv" name="serve"/><outputDecision href="#e"/><encapsulatedDecision href="#a"/><inputDecision href="#c"/><inputData href="#i"/></decisionService><decision id="d" name="d"><variable id="v" name="d"/><knowledgeRequirement id="k"><requiredKnowledge href="#s"/></knowledgeRequirement><literalExpression id="l"><text>serve(4, 5)</text></literalExpression></decision>"##,
            "55",
        ),
    ),
    element(
        "inputDecision",
        "6.3.10",
        Model(
            r##"<inputData id="i" name="n"><variable id="iv" name="n"/></inputData><decision id="a" name="a"><variable id="av" name="a"/><informationRequirement id="ar"><requiredInput href="#i"/></informationRequirement><literalExpression id="al"><text>n + 1</text></literalExpression></decision><decision id="c" name="c"><variable id="cv" name="c"/><literalExpression id="cl"><text>100</text></literalExpression></decision><decision id="e" name="e"><variable id="ev" name="e"/><informationRequirement id="er"><requiredDecision href="#a"/></informationRequirement><informationRequirement id="er2"><requiredDecision href="#c"/></informationRequirement><literalExpression id="el"><text>a * 10 + c</text></literalExpression></decision><decisionService id="s" name="serve"><variable id="sv" name="serve"/><outputDecision href="#e"/><encapsulatedDecision href="#a"/><inputDecision href="#c"/><inputData href="#i"/></decisionService><decision id="d" name="d"><variable id="v" name="d"/><knowledgeRequirement id="k"><requiredKnowledge href="#s"/></knowledgeRequirement><literalExpression id="l"><text>serve(4, 5)</text></literalExpression></decision>"##,
            "55",
        ),
    ),
    element(
        "knowledgeSource",
        "6.3.12",
        Kept(
            r##"<knowledgeSource id="ks" name="law" locationURI="urn:law"><type>law</type><owner href="#o"/><authorityRequirement id="ka"><requiredAuthority href="#ks2"/></authorityRequirement></knowledgeSource><knowledgeSource id="ks2" name="constitution"/>"##,
        ),
    ),
    element(
        "type",
        "6.3.12",
        Kept(
            r##"<knowledgeSource id="ks" name="law" locationURI="urn:law"><type>law</type><owner href="#o"/><authorityRequirement id="ka"><requiredAuthority href="#ks2"/></authorityRequirement></knowledgeSource><knowledgeSource id="ks2" name="constitution"/>"##,
        ),
    ),
    element(
        "owner",
        "6.3.12",
        Kept(
            r##"<knowledgeSource id="ks" name="law" locationURI="urn:law"><type>law</type><owner href="#o"/><authorityRequirement id="ka"><requiredAuthority href="#ks2"/></authorityRequirement></knowledgeSource><knowledgeSource id="ks2" name="constitution"/>"##,
        ),
    ),
    marked(
        Element,
        ("locationURI", r#"locationURI="urn:law""#),
        "6.3.12",
        1,
        Kept(
            r##"<knowledgeSource id="ks" name="law" locationURI="urn:law"><type>law</type><owner href="#o"/><authorityRequirement id="ka"><requiredAuthority href="#ks2"/></authorityRequirement></knowledgeSource><knowledgeSource id="ks2" name="constitution"/>"##,
        ),
    ),
    element(
        "authorityRequirement",
        "6.3.15",
        Kept(
            r##"<knowledgeSource id="ks" name="law" locationURI="urn:law"><type>law</type><owner href="#o"/><authorityRequirement id="ka"><requiredAuthority href="#ks2"/></authorityRequirement></knowledgeSource><knowledgeSource id="ks2" name="constitution"/>"##,
        ),
    ),
    element(
        "requiredAuthority",
        "6.3.15",
        Kept(
            r##"<knowledgeSource id="ks" name="law" locationURI="urn:law"><type>law</type><owner href="#o"/><authorityRequirement id="ka"><requiredAuthority href="#ks2"/></authorityRequirement></knowledgeSource><knowledgeSource id="ks2" name="constitution"/>"##,
        ),
    ),
    // Types.
    element(
        "itemDefinition",
        "7.3.3",
        Model(
            r#"<itemDefinition id="it" name="tT"><typeRef>number</typeRef></itemDefinition><decision id="d" name="d"><variable id="v" name="d" typeRef="tT"/><literalExpression id="l"><text>1</text></literalExpression></decision>"#,
            "1",
        ),
    ),
    element(
        "typeRef",
        "7.3.3",
        Model(
            r#"<itemDefinition id="it" name="tT"><typeRef>number</typeRef></itemDefinition><decision id="d" name="d"><variable id="v" name="d" typeRef="tT"/><literalExpression id="l"><text>"a"</text></literalExpression></decision>"#,
            "null",
        ),
    ),
    element(
        "itemComponent",
        "7.3.3",
        Model(
            r#"<itemDefinition id="it" name="tT"><itemComponent id="ic" name="a"><typeRef>number</typeRef></itemComponent></itemDefinition><decision id="d" name="d"><variable id="v" name="d" typeRef="tT"/><literalExpression id="l"><text>{a: 1}</text></literalExpression></decision>"#,
            "{a: 1}",
        ),
    ),
    marked(
        Element,
        ("isCollection", r#"isCollection="true""#),
        "7.3.3",
        1,
        Model(
            r#"<itemDefinition id="it" name="tT" isCollection="true"><typeRef>number</typeRef></itemDefinition><decision id="d" name="d"><variable id="v" name="d" typeRef="tT"/><literalExpression id="l"><text>[1, 2]</text></literalExpression></decision>"#,
            "[1, 2]",
        ),
    ),
    element(
        "allowedValues",
        "7.3.3",
        Model(
            r#"<itemDefinition id="it" name="tT"><typeRef>number</typeRef><allowedValues id="av"><text>&lt; 10</text></allowedValues></itemDefinition><decision id="d" name="d"><variable id="v" name="d" typeRef="tT"/><literalExpression id="l"><text>11</text></literalExpression></decision>"#,
            "null",
        ),
    ),
    element(
        "typeConstraint",
        "7.3.3",
        Model(
            r#"<itemDefinition id="it" name="tT" isCollection="true"><typeRef>number</typeRef><typeConstraint id="tc"><text>count(?) &lt; 2</text></typeConstraint></itemDefinition><decision id="d" name="d"><variable id="v" name="d" typeRef="tT"/><literalExpression id="l"><text>[1, 2]</text></literalExpression></decision>"#,
            "null",
        ),
    ),
    element(
        "functionItem",
        "7.3.3",
        Model(
            r##"<itemDefinition id="it" name="tT"><functionItem id="fi" outputTypeRef="number"><parameters id="fp" name="n" typeRef="number"/></functionItem></itemDefinition><decision id="e" name="e"><variable id="ev" name="e" typeRef="tT"/><literalExpression id="el"><text>function(n: number) n + 1</text></literalExpression></decision><decision id="d" name="d"><variable id="v" name="d"/><informationRequirement id="r"><requiredDecision href="#e"/></informationRequirement><literalExpression id="l"><text>e(1)</text></literalExpression></decision>"##,
            "2",
        ),
    ),
    element(
        "parameters",
        "7.3.3",
        Model(
            r##"<itemDefinition id="it" name="tT"><functionItem id="fi" outputTypeRef="number"><parameters id="fp" name="n" typeRef="number"/></functionItem></itemDefinition><decision id="e" name="e"><variable id="ev" name="e" typeRef="tT"/><literalExpression id="el"><text>function(n: number) n + 1</text></literalExpression></decision><decision id="d" name="d"><variable id="v" name="d"/><informationRequirement id="r"><requiredDecision href="#e"/></informationRequirement><literalExpression id="l"><text>e(1)</text></literalExpression></decision>"##,
            "2",
        ),
    ),
    marked(
        Boxed,
        ("importedValues", "importedValues"),
        "7.3.5",
        1,
        Kept(
            r#"<decision id="d" name="d"><variable id="v" name="d"/><literalExpression id="l"><importedValues name="x"
            namespace="urn:x" importType="http://www.w3.org/2001/XMLSchema"><importedElement>e</importedElement></importedValues>
            </literalExpression></decision>"#,
        ),
    ),
    // Business context, artifacts and extensions.
    marked(
        Element,
        ("extensionElements", "x:own"),
        "6.3.16",
        1,
        Kept(one!(r#"<extensionElements><x:own xmlns:x="urn:x" a="1"/></extensionElements>"#)),
    ),
    element(
        "supportedObjective",
        "6.3.7",
        Kept(
            r##"<decision id="d" name="d"><variable id="v" name="d"/><supportedObjective href="#p1"/><literalExpression id="l"><text>1</text></literalExpression></decision>"##,
        ),
    ),
    element(
        "impactedPerformanceIndicator",
        "6.3.7",
        Kept(
            r##"<decision id="d" name="d"><variable id="v" name="d"/><impactedPerformanceIndicator href="#p1"/><literalExpression id="l"><text>1</text></literalExpression></decision>"##,
        ),
    ),
    element(
        "decisionMaker",
        "6.3.7",
        Kept(
            r##"<decision id="d" name="d"><variable id="v" name="d"/><decisionMaker href="#ou"/><literalExpression id="l"><text>1</text></literalExpression></decision>"##,
        ),
    ),
    element(
        "decisionOwner",
        "6.3.7",
        Kept(
            r##"<decision id="d" name="d"><variable id="v" name="d"/><decisionOwner href="#ou"/><literalExpression id="l"><text>1</text></literalExpression></decision>"##,
        ),
    ),
    element(
        "usingProcess",
        "6.3.7",
        Kept(
            r#"<decision id="d" name="d"><variable id="v" name="d"/><usingProcess href="urn:p#p"/><literalExpression id="l"><text>1</text></literalExpression></decision>"#,
        ),
    ),
    element(
        "usingTask",
        "6.3.7",
        Kept(
            r#"<decision id="d" name="d"><variable id="v" name="d"/><usingTask href="urn:p#t"/><literalExpression id="l"><text>1</text></literalExpression></decision>"#,
        ),
    ),
    element(
        "organizationUnit",
        "6.3.8",
        Kept(
            r##"<organizationUnit id="ou" name="Credit"><decisionMade href="#d"/><decisionOwned href="#d"/></organizationUnit>"##,
        ),
    ),
    element(
        "performanceIndicator",
        "6.3.8",
        Kept(
            r##"<performanceIndicator id="p1" name="Losses"><impactingDecision href="#d"/></performanceIndicator>"##,
        ),
    ),
    element(
        "elementCollection",
        "6.3.4",
        Kept(r##"<elementCollection id="ec" name="Mine"><drgElement href="#d"/></elementCollection>"##),
    ),
    element(
        "textAnnotation",
        "6.3.6",
        Kept(r#"<textAnnotation id="ta" textFormat="text/plain"><text>a note</text></textAnnotation>"#),
    ),
    element(
        "association",
        "6.3.6",
        Kept(
            r##"<textAnnotation id="ta"><text>a note</text></textAnnotation><association id="as" associationDirection="One"><sourceRef href="#ta"/><targetRef href="#ta"/></association>"##,
        ),
    ),
    element("group", "6.3.6", Kept(r#"<group id="g" name="Together"/>"#)),
    // Boxed expressions.
    marked(
        Boxed,
        ("literalExpression", "literalExpression"),
        "7.3.5",
        1,
        Logic(r#"<literalExpression id="l"><text>n + 1</text></literalExpression>"#, "4"),
    ),
    marked(
        Boxed,
        ("expressionLanguage", "expressionLanguage="),
        "7.3.5",
        1,
        Logic(
            r#"<literalExpression id="l" expressionLanguage="https://www.omg.org/spec/DMN/20230324/FEEL/"><text>n</text></literalExpression>"#,
            "3",
        ),
    ),
    marked(
        Boxed,
        ("invocation", "invocation"),
        "7.3.6",
        1,
        Logic(
            r#"<invocation id="n"><literalExpression id="nl"><text>abs</text></literalExpression><binding><parameter id="np" name="n"/><literalExpression id="nb"><text>-n</text></literalExpression></binding></invocation>"#,
            "3",
        ),
    ),
    marked(
        Boxed,
        ("binding", "binding"),
        "7.3.7",
        1,
        Logic(
            r#"<invocation id="n"><literalExpression id="nl"><text>abs</text></literalExpression><binding><parameter id="np" name="n"/><literalExpression id="nb"><text>-n</text></literalExpression></binding></invocation>"#,
            "3",
        ),
    ),
    marked(
        Boxed,
        ("decisionTable", "decisionTable"),
        "8.3.1",
        1,
        Logic(
            r#"<decisionTable id="t"><input id="ti"><inputExpression id="te"><text>n</text></inputExpression></input><output id="to"/><rule id="r1"><inputEntry id="a"><text>3</text></inputEntry><outputEntry id="b"><text>"three"</text></outputEntry></rule></decisionTable>"#,
            r#""three""#,
        ),
    ),
    marked(
        Boxed,
        ("context", "context"),
        "10.5.1",
        3,
        Logic(
            r#"<context id="c"><contextEntry id="c1"><variable id="c1v" name="a"/><literalExpression id="c1l"><text>n + 1</text></literalExpression></contextEntry><contextEntry id="c2"><literalExpression id="c2l"><text>a * 2</text></literalExpression></contextEntry></context>"#,
            "8",
        ),
    ),
    marked(
        Boxed,
        ("contextEntry", "contextEntry"),
        "10.5.2",
        3,
        Logic(
            r#"<context id="c"><contextEntry id="c1"><variable id="c1v" name="a"/><literalExpression id="c1l"><text>n + 1</text></literalExpression></contextEntry><contextEntry id="c2"><literalExpression id="c2l"><text>a * 2</text></literalExpression></contextEntry></context>"#,
            "8",
        ),
    ),
    marked(
        Boxed,
        ("functionDefinition", "functionDefinition"),
        "10.5.3",
        3,
        Logic(
            r#"<context id="c"><contextEntry id="c1"><variable id="c1v" name="f"/><functionDefinition id="fd"><formalParameter id="fp" name="m" typeRef="number"/><literalExpression id="fl"><text>m + n</text></literalExpression></functionDefinition></contextEntry><contextEntry id="c2"><literalExpression id="c2l"><text>f(1)</text></literalExpression></contextEntry></context>"#,
            "4",
        ),
    ),
    marked(
        Boxed,
        ("formalParameter", "formalParameter"),
        "10.5.3",
        3,
        Logic(
            r#"<context id="c"><contextEntry id="c1"><variable id="c1v" name="f"/><functionDefinition id="fd"><formalParameter id="fp" name="m" typeRef="number"/><literalExpression id="fl"><text>m + n</text></literalExpression></functionDefinition></contextEntry><contextEntry id="c2"><literalExpression id="c2l"><text>f(1)</text></literalExpression></contextEntry></context>"#,
            "4",
        ),
    ),
    marked(
        Boxed,
        ("functionDefinition carried out by Java", r#"kind="Java""#),
        "10.5.3",
        3,
        Logic(
            r#"<context id="c"><contextEntry id="c1"><variable id="c1v" name="f"/><functionDefinition id="fd" kind="Java"><formalParameter id="fp" name="n"/><literalExpression id="fl"><text>{class: "java.lang.Math", method signature: "abs(double)"}</text></literalExpression></functionDefinition></contextEntry><contextEntry id="c2"><literalExpression id="c2l"><text>f(-1)</text></literalExpression></contextEntry></context>"#,
            "1",
        ),
    ),
    marked(
        Boxed,
        ("functionDefinition carried out by PMML", r#"kind="PMML""#),
        "10.5.3",
        3,
        Logic(
            r#"<context id="c"><contextEntry id="c1"><variable id="c1v" name="f"/><functionDefinition id="fd" kind="PMML"><formalParameter id="fp" name="n"/><literalExpression id="fl"><text>{document: "urn:p", model: "m"}</text></literalExpression></functionDefinition></contextEntry><contextEntry id="c2"><literalExpression id="c2l"><text>f(-1)</text></literalExpression></contextEntry></context>"#,
            "1",
        ),
    ),
    marked(
        Boxed,
        ("list", "list"),
        "10.5.4",
        3,
        Logic(
            r#"<list id="ls"><literalExpression id="l1"><text>1</text></literalExpression><literalExpression id="l2"><text>n</text></literalExpression></list>"#,
            "[1, 3]",
        ),
    ),
    marked(
        Boxed,
        ("relation", "relation"),
        "10.5.5",
        3,
        Logic(
            r#"<relation id="re"><column id="rc" name="a"/><column id="rc2" name="b"/><row id="rr"><literalExpression id="l1"><text>1</text></literalExpression><literalExpression id="l2"><text>n</text></literalExpression></row></relation>"#,
            "[{a: 1, b: 3}]",
        ),
    ),
    marked(
        Boxed,
        ("column", "column"),
        "10.5.5",
        3,
        Logic(
            r#"<relation id="re"><column id="rc" name="a"/><column id="rc2" name="b"/><row id="rr"><literalExpression id="l1"><text>1</text></literalExpression><literalExpression id="l2"><text>n</text></literalExpression></row></relation>"#,
            "[{a: 1, b: 3}]",
        ),
    ),
    marked(
        Boxed,
        ("row", "row"),
        "10.5.5",
        3,
        Logic(
            r#"<relation id="re"><column id="rc" name="a"/><column id="rc2" name="b"/><row id="rr"><literalExpression id="l1"><text>1</text></literalExpression><literalExpression id="l2"><text>n</text></literalExpression></row></relation>"#,
            "[{a: 1, b: 3}]",
        ),
    ),
    marked(
        Boxed,
        ("conditional", "conditional"),
        "10.5.6",
        3,
        Logic(
            r#"<conditional id="co"><if><literalExpression id="l1"><text>n &gt; 2</text></literalExpression></if><then><literalExpression id="l2"><text>"more"</text></literalExpression></then><else><literalExpression id="l3"><text>"less"</text></literalExpression></else></conditional>"#,
            r#""more""#,
        ),
    ),
    marked(
        Boxed,
        ("filter", "filter"),
        "10.5.8",
        3,
        Logic(
            r#"<filter id="fi"><in><literalExpression id="l1"><text>[1, n, 5]</text></literalExpression></in><match><literalExpression id="l2"><text>item &gt; 2</text></literalExpression></match></filter>"#,
            "[3, 5]",
        ),
    ),
    marked(
        Boxed,
        ("for", "for"),
        "10.5.10",
        3,
        Logic(
            r#"<for id="fo" iteratorVariable="x"><in><literalExpression id="l1"><text>[1, n]</text></literalExpression></in><return><literalExpression id="l2"><text>x * 2</text></literalExpression></return></for>"#,
            "[2, 6]",
        ),
    ),
    marked(
        Boxed,
        ("every", "every"),
        "10.5.12",
        3,
        Logic(
            r#"<every id="ev" iteratorVariable="x"><in><literalExpression id="l1"><text>[1, n]</text></literalExpression></in><satisfies><literalExpression id="l2"><text>x &gt; 1</text></literalExpression></satisfies></every>"#,
            "false",
        ),
    ),
    marked(
        Boxed,
        ("some", "some"),
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
        ("input", "input"),
        "8.3.2",
        1,
        Logic(
            r#"<decisionTable id="t"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to" typeRef="number"/><rule id="r1"><inputEntry id="r1i"><text>&lt; 3</text></inputEntry><outputEntry id="r1o"><text>1</text></outputEntry></rule><rule id="r2"><inputEntry id="r2i"><text>[3..5)</text></inputEntry><outputEntry id="r2o"><text>n + 1</text></outputEntry></rule><rule id="r3"><inputEntry id="r3i"><text>not(&lt; 5)</text></inputEntry><outputEntry id="r3o"><text>0</text></outputEntry></rule></decisionTable>"#,
            "4",
        ),
    ),
    marked(
        Table,
        ("inputExpression", "inputExpression"),
        "8.3.2",
        1,
        Logic(
            r#"<decisionTable id="t"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to" typeRef="number"/><rule id="r1"><inputEntry id="r1i"><text>&lt; 3</text></inputEntry><outputEntry id="r1o"><text>1</text></outputEntry></rule><rule id="r2"><inputEntry id="r2i"><text>[3..5)</text></inputEntry><outputEntry id="r2o"><text>n + 1</text></outputEntry></rule><rule id="r3"><inputEntry id="r3i"><text>not(&lt; 5)</text></inputEntry><outputEntry id="r3o"><text>0</text></outputEntry></rule></decisionTable>"#,
            "4",
        ),
    ),
    marked(
        Table,
        ("output", "output"),
        "8.3.2",
        1,
        Logic(
            r#"<decisionTable id="t"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to" typeRef="number"/><rule id="r1"><inputEntry id="r1i"><text>&lt; 3</text></inputEntry><outputEntry id="r1o"><text>1</text></outputEntry></rule><rule id="r2"><inputEntry id="r2i"><text>[3..5)</text></inputEntry><outputEntry id="r2o"><text>n + 1</text></outputEntry></rule><rule id="r3"><inputEntry id="r3i"><text>not(&lt; 5)</text></inputEntry><outputEntry id="r3o"><text>0</text></outputEntry></rule></decisionTable>"#,
            "4",
        ),
    ),
    marked(
        Table,
        ("rule", "rule"),
        "8.3.3",
        1,
        Logic(
            r#"<decisionTable id="t"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to" typeRef="number"/><rule id="r1"><inputEntry id="r1i"><text>&lt; 3</text></inputEntry><outputEntry id="r1o"><text>1</text></outputEntry></rule><rule id="r2"><inputEntry id="r2i"><text>[3..5)</text></inputEntry><outputEntry id="r2o"><text>n + 1</text></outputEntry></rule><rule id="r3"><inputEntry id="r3i"><text>not(&lt; 5)</text></inputEntry><outputEntry id="r3o"><text>0</text></outputEntry></rule></decisionTable>"#,
            "4",
        ),
    ),
    marked(
        Table,
        ("inputEntry", "inputEntry"),
        "8.3.3",
        1,
        Logic(
            r#"<decisionTable id="t"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to" typeRef="number"/><rule id="r1"><inputEntry id="r1i"><text>&lt; 3</text></inputEntry><outputEntry id="r1o"><text>1</text></outputEntry></rule><rule id="r2"><inputEntry id="r2i"><text>[3..5)</text></inputEntry><outputEntry id="r2o"><text>n + 1</text></outputEntry></rule><rule id="r3"><inputEntry id="r3i"><text>not(&lt; 5)</text></inputEntry><outputEntry id="r3o"><text>0</text></outputEntry></rule></decisionTable>"#,
            "4",
        ),
    ),
    marked(
        Table,
        ("outputEntry", "outputEntry"),
        "8.3.3",
        1,
        Logic(
            r#"<decisionTable id="t"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to" typeRef="number"/><rule id="r1"><inputEntry id="r1i"><text>&lt; 3</text></inputEntry><outputEntry id="r1o"><text>1</text></outputEntry></rule><rule id="r2"><inputEntry id="r2i"><text>[3..5)</text></inputEntry><outputEntry id="r2o"><text>n + 1</text></outputEntry></rule><rule id="r3"><inputEntry id="r3i"><text>not(&lt; 5)</text></inputEntry><outputEntry id="r3o"><text>0</text></outputEntry></rule></decisionTable>"#,
            "4",
        ),
    ),
    marked(
        Table,
        ("input entry that does not matter", "inputEntry"),
        "8.2.7",
        1,
        Logic(
            r#"<decisionTable id="t"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to"/><rule id="r1"><inputEntry id="r1i"><text>-</text></inputEntry><outputEntry id="r1o"><text>7</text></outputEntry></rule></decisionTable>"#,
            "7",
        ),
    ),
    marked(
        Table,
        ("inputValues", "inputValues"),
        "8.3.2",
        1,
        Logic(
            r#"<decisionTable id="t"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression><inputValues id="tv"><text>[1..2]</text></inputValues></input><output id="to"/><rule id="r1"><inputEntry id="r1i"><text>-</text></inputEntry><outputEntry id="r1o"><text>7</text></outputEntry></rule></decisionTable>"#,
            "null",
        ),
    ),
    marked(
        Table,
        ("several outputs", "outputEntry"),
        "8.2.6",
        1,
        Logic(
            r#"<decisionTable id="t"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to" name="a"/><output id="to2" name="b"/><rule id="r1"><inputEntry id="r1i"><text>3</text></inputEntry><outputEntry id="r1o"><text>7</text></outputEntry><outputEntry id="r1p"><text>8</text></outputEntry></rule></decisionTable>"#,
            "{a: 7, b: 8}",
        ),
    ),
    marked(
        Table,
        ("outputValues", "outputValues"),
        "8.3.2",
        1,
        Logic(
            r#"<decisionTable id="t" hitPolicy="PRIORITY"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to"><outputValues id="ov"><text>"high", "low"</text></outputValues></output><rule id="r1"><inputEntry id="r1i"><text>3</text></inputEntry><outputEntry id="r1o"><text>"low"</text></outputEntry></rule><rule id="r2"><inputEntry id="r2i"><text>3</text></inputEntry><outputEntry id="r2o"><text>"high"</text></outputEntry></rule></decisionTable>"#,
            r#""high""#,
        ),
    ),
    marked(
        Table,
        ("defaultOutputEntry", "defaultOutputEntry"),
        "8.2.11",
        1,
        Logic(
            r#"<decisionTable id="t"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to"><defaultOutputEntry id="od"><text>9</text></defaultOutputEntry></output><rule id="r1"><inputEntry id="r1i"><text>4</text></inputEntry><outputEntry id="r1o"><text>7</text></outputEntry></rule></decisionTable>"#,
            "9",
        ),
    ),
    marked(
        Table,
        ("annotation", "annotation"),
        "8.3.1",
        1,
        Logic(
            r#"<decisionTable id="t" outputLabel="Rate" preferredOrientation="Rule-as-Column"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to"/><annotation name="why"/><rule id="r1"><inputEntry id="r1i"><text>3</text></inputEntry><outputEntry id="r1o"><text>7</text></outputEntry><annotationEntry><text>because</text></annotationEntry></rule></decisionTable>"#,
            "7",
        ),
    ),
    marked(
        Table,
        ("annotationEntry", "annotationEntry"),
        "8.3.3",
        1,
        Logic(
            r#"<decisionTable id="t" outputLabel="Rate" preferredOrientation="Rule-as-Column"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to"/><annotation name="why"/><rule id="r1"><inputEntry id="r1i"><text>3</text></inputEntry><outputEntry id="r1o"><text>7</text></outputEntry><annotationEntry><text>because</text></annotationEntry></rule></decisionTable>"#,
            "7",
        ),
    ),
    marked(
        Table,
        ("outputLabel", r#"outputLabel="Rate""#),
        "8.3.1",
        1,
        Logic(
            r#"<decisionTable id="t" outputLabel="Rate" preferredOrientation="Rule-as-Column"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to"/><annotation name="why"/><rule id="r1"><inputEntry id="r1i"><text>3</text></inputEntry><outputEntry id="r1o"><text>7</text></outputEntry><annotationEntry><text>because</text></annotationEntry></rule></decisionTable>"#,
            "7",
        ),
    ),
    marked(
        Table,
        ("preferredOrientation", r#"preferredOrientation="Rule-as-Column""#),
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
        ("UNIQUE", r#"hitPolicy="UNIQUE""#),
        "8.2.10",
        1,
        Logic(
            r#"<decisionTable id="t" hitPolicy="UNIQUE"><input id="ti"><inputExpression id="te" typeRef="number"><text>n</text></inputExpression></input><output id="to"/><rule id="r1"><inputEntry id="r1i"><text>3</text></inputEntry><outputEntry id="r1o"><text>7</text></outputEntry></rule><rule id="r2"><inputEntry id="r2i"><text>4</text></inputEntry><outputEntry id="r2o"><text>8</text></outputEntry></rule></decisionTable>"#,
            "7",
        ),
    ),
    marked(
        HitPolicy,
        ("FIRST", r#"hitPolicy="FIRST""#),
        "8.2.10",
        1,
        Logic(policy!(r#"hitPolicy="FIRST""#, "10", "20"), "10"),
    ),
    marked(
        HitPolicy,
        ("PRIORITY", r#"hitPolicy="PRIORITY""#),
        "8.2.10",
        1,
        Logic(policy!(r#"hitPolicy="PRIORITY""#, "10", "20"), "20"),
    ),
    marked(
        HitPolicy,
        ("ANY", r#"hitPolicy="ANY""#),
        "8.2.10",
        1,
        Logic(policy!(r#"hitPolicy="ANY""#, "10", "10"), "10"),
    ),
    marked(
        HitPolicy,
        ("COLLECT", r#"hitPolicy="COLLECT""#),
        "8.2.10",
        1,
        Logic(policy!(r#"hitPolicy="COLLECT""#, "10", "20"), "[10, 20]"),
    ),
    marked(
        HitPolicy,
        ("RULE ORDER", r#"hitPolicy="RULE ORDER""#),
        "8.2.10",
        1,
        Logic(policy!(r#"hitPolicy="RULE ORDER""#, "10", "20"), "[10, 20]"),
    ),
    marked(
        HitPolicy,
        ("OUTPUT ORDER", r#"hitPolicy="OUTPUT ORDER""#),
        "8.2.10",
        1,
        Logic(policy!(r#"hitPolicy="OUTPUT ORDER""#, "10", "20"), "[20, 10]"),
    ),
    marked(
        Aggregation,
        ("SUM", r#"aggregation="SUM""#),
        "8.2.10",
        1,
        Logic(policy!(r#"hitPolicy="COLLECT" aggregation="SUM""#, "10", "20"), "30"),
    ),
    marked(
        Aggregation,
        ("COUNT", r#"aggregation="COUNT""#),
        "8.2.10",
        1,
        Logic(policy!(r#"hitPolicy="COLLECT" aggregation="COUNT""#, "10", "20"), "2"),
    ),
    marked(
        Aggregation,
        ("MIN", r#"aggregation="MIN""#),
        "8.2.10",
        1,
        Logic(policy!(r#"hitPolicy="COLLECT" aggregation="MIN""#, "10", "20"), "10"),
    ),
    marked(
        Aggregation,
        ("MAX", r#"aggregation="MAX""#),
        "8.2.10",
        1,
        Logic(policy!(r#"hitPolicy="COLLECT" aggregation="MAX""#, "10", "20"), "20"),
    ),
    // Diagrams.
    marked(Diagram, ("DMNDI", "dmndi:DMNDI"), "13.4.2", 0, Probe::Diagram(DRAWN)),
    marked(Diagram, ("DMNDiagram", "dmndi:DMNDiagram"), "13.4.3", 0, Probe::Diagram(DRAWN)),
    marked(Diagram, ("DMNShape", "dmndi:DMNShape"), "13.4.5", 0, Probe::Diagram(DRAWN)),
    marked(Diagram, ("Bounds", "dc:Bounds"), "13.4.5", 0, Probe::Diagram(DRAWN)),
    marked(Diagram, ("DMNEdge", "dmndi:DMNEdge"), "13.4.6", 0, Probe::Diagram(DRAWN)),
    marked(Diagram, ("waypoint", "di:waypoint"), "13.4.6", 0, Probe::Diagram(DRAWN)),
    marked(Diagram, ("DMNLabel", "dmndi:DMNLabel"), "13.4.7", 0, Probe::Diagram(DRAWN)),
    marked(Diagram, ("DMNStyle", "dmndi:DMNStyle"), "13.4.8", 0, Probe::Diagram(DRAWN)),
    marked(Diagram, ("Size", "dmndi:Size"), "13.4.3", 0, Probe::Diagram(DRAWN)),
    marked(
        Diagram,
        ("DMNDecisionServiceDividerLine", "dmndi:DMNDecisionServiceDividerLine"),
        "13.4.5",
        0,
        Probe::Diagram(DRAWN),
    ),
];
