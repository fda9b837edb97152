//! Elements of the requirements graph, types and business context (clauses 6 and 7), each with a model.

use super::Group;
use super::probe::{Feature, Probe};
use Group::{Boxed, Element};
use Probe::{Kept, Model};

const fn element(name: &'static str, clause: &'static str, probe: Probe) -> Feature {
    Feature { group: Element, name, clause, level: 1, mark: name, probe }
}

pub(super) const fn marked(
    group: Group,
    name: &'static str,
    mark: &'static str,
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

pub(super) const FEATURES: &[Feature] = &[
    // The requirements graph.
    element("definitions", "6.3.2", Model(one!(""), "1")),
    marked(
        Element,
        "description",
        "description",
        "6.3.1",
        1,
        Model(one!("<description>What it is for.</description>"), "1"),
    ),
    marked(
        Element,
        "label",
        r#"label="What""#,
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
        "locationURI",
        r#"locationURI="urn:law""#,
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
        "isCollection",
        r#"isCollection="true""#,
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
        "importedValues",
        "importedValues",
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
        "extensionElements",
        "x:own",
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
];
