//! From a model to a document of DMN 1.5.

use std::collections::HashMap;

use heddle_xml::text::{escape_attribute, escape_text, expressible};
use heddle_xml::{Document, El, Limits};

use super::upgrade::upgrade;
use super::{DC_NS, DI_NS, DMNDI_NS, MAX_DEPTH, MAX_ELEMENTS, MODEL_NS, WriteError};
use crate::model::{
    Aggregation, AuthorityRequirement, BoxedExpression, ContextEntry, DecisionModel, DecisionTable,
    FunctionDefinition, FunctionKind, HitPolicy, InformationItem, ItemDefinition, KnowledgeRequirement,
    LiteralExpression, Orientation, RelationRow, UnaryTestsText,
};

const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
/// Children that the model has members for: they are written from it, not taken from the base.
const OWN: [&str; 60] = [
    "description",
    "import",
    "itemDefinition",
    "inputData",
    "decision",
    "businessKnowledgeModel",
    "decisionService",
    "knowledgeSource",
    "question",
    "allowedAnswers",
    "variable",
    "informationRequirement",
    "knowledgeRequirement",
    "authorityRequirement",
    "encapsulatedLogic",
    "outputDecision",
    "encapsulatedDecision",
    "inputDecision",
    "type",
    "owner",
    "typeRef",
    "allowedValues",
    "typeConstraint",
    "itemComponent",
    "functionItem",
    "parameters",
    "text",
    "literalExpression",
    "context",
    "list",
    "relation",
    "invocation",
    "functionDefinition",
    "decisionTable",
    "conditional",
    "filter",
    "for",
    "some",
    "every",
    "requiredKnowledge",
    "supportedObjective",
    "impactedPerformanceIndicator",
    "decisionMaker",
    "decisionOwner",
    "usingProcess",
    "usingTask",
    "textAnnotation",
    "association",
    "group",
    "elementCollection",
    "performanceIndicator",
    "organizationUnit",
    "drgElement",
    "impactingDecision",
    "decisionMade",
    "decisionOwned",
    "sourceRef",
    "targetRef",
    "importedValues",
    "importedElement",
];

pub(super) type Attributes<'a> = &'a [(&'a str, Option<&'a String>)];

pub(super) struct Writer<'b> {
    out: String,
    prefix: String,
    indent: usize,
    base: Option<&'b Document<'b>>,
    /// Elements of the base by id.
    by_id: HashMap<String, El>,
    bad: Option<String>,
}

/// Writes the model; what it has no member for is taken from its `sourceXml`.
pub(super) fn model(model: &DecisionModel) -> Result<String, WriteError> {
    let limits = Limits { depth: MAX_DEPTH, elements: MAX_ELEMENTS };
    let upgraded = match &model.source_xml {
        Some(source) => {
            let document = Document::parse(source, limits)?;
            let read = super::read::model(&document)?;
            let text = upgrade(&document);
            if read.model == *model {
                return Ok(format!("{DECLARATION}{}", text.trim_start()));
            }
            Some(text)
        }
        None => None,
    };
    let base = upgraded.as_deref().map(|text| Document::parse(text, limits)).transpose()?;
    let mut by_id = HashMap::new();
    let mut prefix = String::new();
    if let Some(base) = &base {
        let root = base.root();
        if let Some((before, _)) = base.part(root).name.split_once(':') {
            prefix = format!("{before}:");
        }
        let mut left = vec![root];
        while let Some(el) = left.pop() {
            if base.part(el).ns == base.part(root).ns
                && let Some(id) = base.attribute(el, "id")
            {
                by_id.insert(id.into_owned(), el);
            }
            left.extend(base.children(el));
        }
    }
    let out = DECLARATION.to_owned();
    let mut writer = Writer { out, prefix, indent: 0, base: base.as_ref(), by_id, bad: None };
    writer.definitions(model);
    match writer.bad {
        Some(path) => Err(WriteError::Character { path }),
        None => Ok(writer.out),
    }
}

impl Writer<'_> {
    fn line(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n("  ", self.indent));
    }

    fn check(&mut self, name: &str, value: &str) {
        if !value.chars().all(expressible) {
            self.bad.get_or_insert_with(|| name.to_owned());
        }
    }

    fn attribute(&mut self, name: &str, value: &str) {
        self.check(name, value);
        self.out.push(' ');
        self.out.push_str(name);
        self.out.push_str("=\"");
        escape_attribute(value, &mut self.out);
        self.out.push('"');
    }

    fn start(&mut self, name: &str, attributes: Attributes<'_>) {
        self.line();
        self.out.push('<');
        self.out.push_str(&self.prefix);
        self.out.push_str(name);
        for (name, value) in attributes {
            if let Some(value) = value {
                self.attribute(name, value);
            }
        }
    }

    fn end(&mut self, name: &str) {
        self.indent -= 1;
        self.line();
        self.out.push_str("</");
        self.out.push_str(&self.prefix);
        self.out.push_str(name);
        self.out.push('>');
    }

    /// An element with what the base keeps for its id; `body` writes the children.
    pub(super) fn element(
        &mut self,
        name: &str,
        id: Option<&String>,
        description: Option<&String>,
        attributes: Attributes<'_>,
        body: impl FnOnce(&mut Self),
    ) {
        self.start(name, &[("id", id)]);
        self.rest(name, id, description, attributes, body);
    }

    fn rest(
        &mut self,
        name: &str,
        id: Option<&String>,
        description: Option<&String>,
        attributes: Attributes<'_>,
        body: impl FnOnce(&mut Self),
    ) {
        for (name, value) in attributes {
            if let Some(value) = value {
                self.attribute(name, value);
            }
        }
        let kept = id.and_then(|id| self.by_id.get(id)).copied();
        let kept = kept.filter(|el| self.base.is_some_and(|base| base.local(*el) == name));
        self.foreign(kept);
        self.out.push('>');
        self.indent += 1;
        self.text_element("description", description);
        self.kept(kept, true);
        body(self);
        self.kept(kept, false);
        self.end(name);
    }

    /// Attributes of other namespaces.
    fn foreign(&mut self, el: Option<El>) {
        let (Some(el), Some(base)) = (el, self.base) else { return };
        if el != base.root() {
            self.declarations(base, el);
        }
        for attribute in base.attributes(el).iter().filter(|attribute| attribute.is_qualified()) {
            self.raw_attribute(attribute.name, attribute.raw);
        }
    }

    /// The namespaces that an element of the source declares.
    fn declarations(&mut self, base: &Document<'_>, el: El) {
        for declaration in base.declarations(el) {
            self.raw_attribute(declaration.name, declaration.raw);
        }
    }

    /// An attribute with its value as in the source.
    fn raw_attribute(&mut self, name: &str, raw: &str) {
        for part in [" ", name, "=\"", &raw.replace('"', "&quot;"), "\""] {
            self.out.push_str(part);
        }
    }

    /// Children without a member: extension elements in front, others behind.
    fn kept(&mut self, el: Option<El>, extensions: bool) {
        let (Some(el), Some(base)) = (el, self.base) else { return };
        for child in base.parts_of(el) {
            let local = base.local(child);
            let is_own = base.part(child).ns == base.part(base.root()).ns;
            if is_own && (OWN.contains(&local) || local == "input" || local == "output" || local == "rule")
                || local == "extensionElements" && !extensions
                || local != "extensionElements" && extensions
                || is_own && !super::read::KEPT.contains(&local)
            {
                continue;
            }
            self.line();
            self.out.push_str(base.outer(child));
        }
    }

    pub(super) fn text_element(&mut self, name: &str, text: Option<&String>) {
        let Some(text) = text else { return };
        self.check(name, text);
        self.start(name, &[]);
        self.out.push('>');
        escape_text(text, &mut self.out);
        self.out.push_str("</");
        self.out.push_str(&self.prefix);
        self.out.push_str(name);
        self.out.push('>');
    }

    pub(super) fn reference(&mut self, name: &str, href: Option<&String>) {
        if href.is_some() {
            self.start(name, &[("href", href)]);
            self.out.push_str("/>");
        }
    }

    fn definitions(&mut self, model: &DecisionModel) {
        self.out.push('<');
        self.out.push_str(&self.prefix);
        self.out.push_str("definitions");
        let root = self.base.map(Document::root);
        match (self.base, root) {
            (Some(base), Some(root)) => {
                self.declarations(base, root);
            }
            _ => {
                for (name, uri) in
                    [("xmlns", MODEL_NS), ("xmlns:dmndi", DMNDI_NS), ("xmlns:dc", DC_NS), ("xmlns:di", DI_NS)]
                {
                    self.attribute(name, uri);
                }
            }
        }
        for (name, value) in [
            ("id", &model.id),
            ("name", &model.name),
            ("label", &model.label),
            ("namespace", &model.namespace),
            ("expressionLanguage", &model.expression_language),
            ("typeLanguage", &model.type_language),
            ("exporter", &model.exporter),
            ("exporterVersion", &model.exporter_version),
        ] {
            if let Some(value) = value {
                self.attribute(name, value);
            }
        }
        self.foreign(root);
        self.out.push('>');
        self.indent = 1;
        self.text_element("description", model.description.as_ref());
        self.kept(root, true);
        for it in &model.imports {
            let attributes: Attributes<'_> = &[
                ("name", it.name.as_ref()),
                ("label", it.label.as_ref()),
                ("namespace", it.namespace.as_ref()),
                ("locationURI", it.location_uri.as_ref()),
                ("importType", it.import_type.as_ref()),
            ];
            self.element("import", it.id.as_ref(), it.description.as_ref(), attributes, |_| {});
        }
        for it in &model.item_definitions {
            self.item_definition("itemDefinition", it);
        }
        self.graph(model);
        self.around(model);
        self.kept(root, false);
        self.end("definitions");
        self.out.push('\n');
    }

    fn graph(&mut self, model: &DecisionModel) {
        for it in &model.input_data {
            let named: Attributes<'_> = &[("name", it.name.as_ref()), ("label", it.label.as_ref())];
            self.element("inputData", it.id.as_ref(), it.description.as_ref(), named, |this| {
                this.item("variable", it.variable.as_ref());
            });
        }
        for it in &model.decisions {
            let named: Attributes<'_> = &[("name", it.name.as_ref()), ("label", it.label.as_ref())];
            self.element("decision", it.id.as_ref(), it.description.as_ref(), named, |this| {
                this.text_element("question", it.question.as_ref());
                this.text_element("allowedAnswers", it.allowed_answers.as_ref());
                this.item("variable", it.variable.as_ref());
                for it in &it.information_requirements {
                    let label: Attributes<'_> = &[("label", it.label.as_ref())];
                    let (id, description) = (it.id.as_ref(), it.description.as_ref());
                    this.element("informationRequirement", id, description, label, |this| {
                        this.reference("requiredDecision", it.required_decision.as_ref());
                        this.reference("requiredInput", it.required_input.as_ref());
                    });
                }
                this.knowledge(&it.knowledge_requirements);
                this.authority(&it.authority_requirements);
                this.around_decision(it);
                this.optional(it.expression.as_ref());
            });
        }
        for it in &model.business_knowledge_models {
            let named: Attributes<'_> = &[("name", it.name.as_ref()), ("label", it.label.as_ref())];
            self.element("businessKnowledgeModel", it.id.as_ref(), it.description.as_ref(), named, |this| {
                this.item("variable", it.variable.as_ref());
                if let Some(logic) = &it.encapsulated_logic {
                    this.function("encapsulatedLogic", logic);
                }
                this.knowledge(&it.knowledge_requirements);
                this.authority(&it.authority_requirements);
            });
        }
        for it in &model.decision_services {
            let named: Attributes<'_> = &[("name", it.name.as_ref()), ("label", it.label.as_ref())];
            self.element("decisionService", it.id.as_ref(), it.description.as_ref(), named, |this| {
                this.item("variable", it.variable.as_ref());
                for (name, hrefs) in [
                    ("outputDecision", &it.output_decisions),
                    ("encapsulatedDecision", &it.encapsulated_decisions),
                    ("inputDecision", &it.input_decisions),
                    ("inputData", &it.input_data),
                ] {
                    hrefs.iter().for_each(|href| this.reference(name, Some(href)));
                }
            });
        }
        for it in &model.knowledge_sources {
            let named: Attributes<'_> = &[
                ("name", it.name.as_ref()),
                ("label", it.label.as_ref()),
                ("locationURI", it.location_uri.as_ref()),
            ];
            self.element("knowledgeSource", it.id.as_ref(), it.description.as_ref(), named, |this| {
                this.authority(&it.authority_requirements);
                this.text_element("type", it.r#type.as_ref());
                this.reference("owner", it.owner.as_ref());
            });
        }
    }

    fn knowledge(&mut self, requirements: &[KnowledgeRequirement]) {
        for it in requirements {
            let label: Attributes<'_> = &[("label", it.label.as_ref())];
            self.element("knowledgeRequirement", it.id.as_ref(), it.description.as_ref(), label, |this| {
                this.reference("requiredKnowledge", it.required_knowledge.as_ref());
            });
        }
    }

    fn authority(&mut self, requirements: &[AuthorityRequirement]) {
        for it in requirements {
            let label: Attributes<'_> = &[("label", it.label.as_ref())];
            self.element("authorityRequirement", it.id.as_ref(), it.description.as_ref(), label, |this| {
                this.reference("requiredDecision", it.required_decision.as_ref());
                this.reference("requiredInput", it.required_input.as_ref());
                this.reference("requiredAuthority", it.required_authority.as_ref());
            });
        }
    }

    fn item(&mut self, name: &str, item: Option<&InformationItem>) {
        let Some(it) = item else { return };
        let attributes: Attributes<'_> =
            &[("name", it.name.as_ref()), ("label", it.label.as_ref()), ("typeRef", it.type_ref.as_ref())];
        self.element(name, it.id.as_ref(), it.description.as_ref(), attributes, |_| {});
    }

    fn item_definition(&mut self, name: &str, it: &ItemDefinition) {
        let collection = it.is_collection.map(|is| is.to_string());
        let attributes: Attributes<'_> = &[
            ("name", it.name.as_ref()),
            ("label", it.label.as_ref()),
            ("typeLanguage", it.type_language.as_ref()),
            ("isCollection", collection.as_ref()),
        ];
        self.element(name, it.id.as_ref(), it.description.as_ref(), attributes, |this| {
            this.text_element("typeRef", it.type_ref.as_ref());
            this.unary_tests("allowedValues", it.allowed_values.as_ref());
            this.unary_tests("typeConstraint", it.type_constraint.as_ref());
            for component in &it.item_components {
                this.item_definition("itemComponent", component);
            }
            if let Some(it) = &it.function_item {
                let attributes: Attributes<'_> =
                    &[("label", it.label.as_ref()), ("outputTypeRef", it.output_type_ref.as_ref())];
                this.element("functionItem", it.id.as_ref(), it.description.as_ref(), attributes, |this| {
                    it.parameters.iter().for_each(|item| this.item("parameters", Some(item)));
                });
            }
        });
    }

    fn unary_tests(&mut self, name: &str, tests: Option<&UnaryTestsText>) {
        let Some(it) = tests else { return };
        let attributes: Attributes<'_> = &[
            ("label", it.label.as_ref()),
            ("typeRef", it.type_ref.as_ref()),
            ("expressionLanguage", it.expression_language.as_ref()),
        ];
        self.element(name, it.id.as_ref(), it.description.as_ref(), attributes, |this| {
            this.text_element("text", it.text.as_ref());
        });
    }

    fn literal(&mut self, name: &str, it: &LiteralExpression) {
        let attributes: Attributes<'_> = &[
            ("label", it.label.as_ref()),
            ("typeRef", it.type_ref.as_ref()),
            ("expressionLanguage", it.expression_language.as_ref()),
        ];
        self.element(name, it.id.as_ref(), it.description.as_ref(), attributes, |this| {
            this.text_element("text", it.text.as_ref());
            if let Some(imported) = &it.imported_values {
                this.imported_values(imported);
            }
        });
    }

    fn optional(&mut self, expression: Option<&BoxedExpression>) {
        if let Some(expression) = expression {
            self.expression(expression);
        }
    }

    fn inner(&mut self, name: &str, kind: Option<&String>, expression: Option<&BoxedExpression>) {
        if let Some(expression) = expression {
            self.element(name, None, None, &[("typeRef", kind)], |this| this.expression(expression));
        }
    }

    fn expression(&mut self, expression: &BoxedExpression) {
        macro_rules! boxed {
            ($name:expr, $it:expr, $body:expr) => {
                self.element(
                    $name,
                    $it.id.as_ref(),
                    $it.description.as_ref(),
                    &[("label", $it.label.as_ref()), ("typeRef", $it.type_ref.as_ref())],
                    $body,
                )
            };
        }
        match expression {
            BoxedExpression::LiteralExpression(it) => self.literal("literalExpression", it),
            BoxedExpression::DecisionTable(it) => self.table(it),
            BoxedExpression::FunctionDefinition(it) => self.function("functionDefinition", it),
            BoxedExpression::Context(it) => boxed!("context", it, |this: &mut Self| {
                it.entries.iter().for_each(|entry| this.entry(entry));
            }),
            BoxedExpression::List(it) => boxed!("list", it, |this: &mut Self| {
                it.items.iter().for_each(|item| this.expression(item));
            }),
            BoxedExpression::Relation(it) => boxed!("relation", it, |this: &mut Self| {
                it.columns.iter().for_each(|column| this.item("column", Some(column)));
                it.rows.iter().for_each(|row| this.row(row));
            }),
            BoxedExpression::Invocation(it) => boxed!("invocation", it, |this: &mut Self| {
                this.optional(it.called_function.as_ref());
                for it in &it.bindings {
                    this.start("binding", &[]);
                    this.rest("binding", None, None, &[], |this| {
                        this.item("parameter", it.parameter.as_ref());
                        this.optional(it.expression.as_ref());
                    });
                }
            }),
            BoxedExpression::Conditional(it) => boxed!("conditional", it, |this: &mut Self| {
                this.inner("if", None, it.r#if.as_ref());
                this.inner("then", None, it.then.as_ref());
                this.inner("else", None, it.r#else.as_ref());
            }),
            BoxedExpression::Filter(it) => boxed!("filter", it, |this: &mut Self| {
                this.inner("in", None, it.r#in.as_ref());
                this.inner("match", None, it.r#match.as_ref());
            }),
            BoxedExpression::For(it) => {
                let attributes: Attributes<'_> = &[
                    ("label", it.label.as_ref()),
                    ("typeRef", it.type_ref.as_ref()),
                    ("iteratorVariable", it.iterator_variable.as_ref()),
                ];
                self.element("for", it.id.as_ref(), it.description.as_ref(), attributes, |this| {
                    this.inner("in", it.in_type_ref.as_ref(), it.r#in.as_ref());
                    this.inner("return", None, it.r#return.as_ref());
                });
            }
            BoxedExpression::Some(it) | BoxedExpression::Every(it) => {
                let attributes: Attributes<'_> = &[
                    ("label", it.label.as_ref()),
                    ("typeRef", it.type_ref.as_ref()),
                    ("iteratorVariable", it.iterator_variable.as_ref()),
                ];
                let name = if matches!(expression, BoxedExpression::Every(_)) { "every" } else { "some" };
                self.element(name, it.id.as_ref(), it.description.as_ref(), attributes, |this| {
                    this.inner("in", it.in_type_ref.as_ref(), it.r#in.as_ref());
                    this.inner("satisfies", None, it.satisfies.as_ref());
                });
            }
        }
    }

    fn entry(&mut self, it: &ContextEntry) {
        let label: Attributes<'_> = &[("label", it.label.as_ref())];
        self.element("contextEntry", it.id.as_ref(), it.description.as_ref(), label, |this| {
            this.item("variable", it.variable.as_ref());
            this.optional(it.value.as_ref());
        });
    }

    fn row(&mut self, it: &RelationRow) {
        let attributes: Attributes<'_> = &[("label", it.label.as_ref()), ("typeRef", it.type_ref.as_ref())];
        self.element("row", it.id.as_ref(), it.description.as_ref(), attributes, |this| {
            it.items.iter().for_each(|item| this.expression(item));
        });
    }

    fn function(&mut self, name: &str, it: &FunctionDefinition) {
        let kind = it.kind.map(|kind| {
            let word = match kind {
                FunctionKind::Feel => "FEEL",
                FunctionKind::Java => "Java",
                FunctionKind::Pmml => "PMML",
            };
            word.to_owned()
        });
        let attributes: Attributes<'_> =
            &[("label", it.label.as_ref()), ("typeRef", it.type_ref.as_ref()), ("kind", kind.as_ref())];
        self.element(name, it.id.as_ref(), it.description.as_ref(), attributes, |this| {
            it.formal_parameters.iter().for_each(|item| this.item("formalParameter", Some(item)));
            this.optional(it.body.as_ref());
        });
    }

    fn table(&mut self, it: &DecisionTable) {
        let policy = it.hit_policy.map(|policy| hit_policy(policy).to_owned());
        let aggregation = it.aggregation.map(|aggregation| {
            let word = match aggregation {
                Aggregation::Sum => "SUM",
                Aggregation::Count => "COUNT",
                Aggregation::Min => "MIN",
                Aggregation::Max => "MAX",
            };
            word.to_owned()
        });
        let orientation = it.preferred_orientation.map(|orientation| {
            let word = match orientation {
                Orientation::RuleAsRow => "Rule-as-Row",
                Orientation::RuleAsColumn => "Rule-as-Column",
                Orientation::CrossTable => "CrossTable",
            };
            word.to_owned()
        });
        let attributes: Attributes<'_> = &[
            ("label", it.label.as_ref()),
            ("typeRef", it.type_ref.as_ref()),
            ("hitPolicy", policy.as_ref()),
            ("aggregation", aggregation.as_ref()),
            ("preferredOrientation", orientation.as_ref()),
            ("outputLabel", it.output_label.as_ref()),
        ];
        self.element("decisionTable", it.id.as_ref(), it.description.as_ref(), attributes, |this| {
            for it in &it.inputs {
                let label: Attributes<'_> = &[("label", it.label.as_ref())];
                this.element("input", it.id.as_ref(), it.description.as_ref(), label, |this| {
                    if let Some(literal) = &it.input_expression {
                        this.literal("inputExpression", literal);
                    }
                    this.unary_tests("inputValues", it.input_values.as_ref());
                });
            }
            for it in &it.outputs {
                let attributes: Attributes<'_> = &[
                    ("label", it.label.as_ref()),
                    ("name", it.name.as_ref()),
                    ("typeRef", it.type_ref.as_ref()),
                ];
                this.element("output", it.id.as_ref(), it.description.as_ref(), attributes, |this| {
                    this.unary_tests("outputValues", it.output_values.as_ref());
                    if let Some(literal) = &it.default_output_entry {
                        this.literal("defaultOutputEntry", literal);
                    }
                });
            }
            for it in &it.annotations {
                this.start("annotation", &[("name", it.name.as_ref())]);
                this.out.push_str("/>");
            }
            for it in &it.rules {
                let label: Attributes<'_> = &[("label", it.label.as_ref())];
                this.element("rule", it.id.as_ref(), it.description.as_ref(), label, |this| {
                    it.input_entries.iter().for_each(|entry| this.unary_tests("inputEntry", Some(entry)));
                    it.output_entries.iter().for_each(|entry| this.literal("outputEntry", entry));
                    for annotation in &it.annotation_entries {
                        this.start("annotationEntry", &[]);
                        this.rest("annotationEntry", None, None, &[], |this| {
                            this.text_element("text", Some(annotation));
                        });
                    }
                });
            }
        });
    }
}

const fn hit_policy(policy: HitPolicy) -> &'static str {
    match policy {
        HitPolicy::Unique => "UNIQUE",
        HitPolicy::First => "FIRST",
        HitPolicy::Priority => "PRIORITY",
        HitPolicy::Any => "ANY",
        HitPolicy::Collect => "COLLECT",
        HitPolicy::RuleOrder => "RULE ORDER",
        HitPolicy::OutputOrder => "OUTPUT ORDER",
    }
}
