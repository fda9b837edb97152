//! From a document to a model.

#![expect(clippy::needless_update, reason = "the shapes of one macro have more members or none")]

use heddle_xml::{Document, El, XmlError};

use super::place::Places;
use super::{Imported, MAX_NESTING, Version};
use crate::diagnostic::Diagnostic;
use crate::model::{
    Aggregation, At, AuthorityRequirement, Binding, BoxedExpression, BusinessKnowledgeModel,
    ConditionalExpression, ContextEntry, ContextExpression, Decision, DecisionModel, DecisionRule,
    DecisionService, DecisionTable, FilterExpression, ForExpression, FunctionDefinition, FunctionItem,
    FunctionKind, HitPolicy, Import, InformationItem, InformationRequirement, InputClause, InputData,
    Invocation, ItemDefinition, KnowledgeRequirement, KnowledgeSource, ListExpression, LiteralExpression,
    Orientation, OutputClause, QuantifiedExpression, Relation, RelationRow, RuleAnnotationClause,
    UnaryTestsText,
};

/// Elements that the model has no member for: they stay in the source, from which the writer takes them.
pub(super) const KEPT: [&str; 18] = [
    "extensionElements",
    "textAnnotation",
    "association",
    "group",
    "elementCollection",
    "performanceIndicator",
    "organizationUnit",
    "supportedObjective",
    "impactedPerformanceIndicator",
    "decisionMaker",
    "decisionOwner",
    "usingProcess",
    "usingTask",
    "importedValues",
    "description",
    "DMNDI",
    "text",
    "informationItem",
];

struct Reader<'d, 's> {
    document: &'d Document<'s>,
    places: Places<'s>,
    /// Namespace of the model's elements in this document.
    namespace: u32,
    /// The model's own namespace.
    own: Option<String>,
    /// Names of imports by namespace.
    imports: Vec<(String, String)>,
    diagnostics: Vec<Diagnostic>,
}

/// Fills the members that every element has.
macro_rules! element {
    ($reader:expr, $el:expr, $kind:ident { $($field:ident: $value:expr),* $(,)? }) => {
        $kind {
            id: $reader.attribute($el, "id"),
            label: $reader.attribute($el, "label"),
            description: $reader.description($el),
            at: $reader.at($el),
            $($field: $value,)*
            ..$kind::default()
        }
    };
}

/// Reads the model.
pub(super) fn model(document: &Document<'_>) -> Result<Imported, XmlError> {
    let root = document.root();
    let places = Places::new(document.source);
    let namespace = document.namespace(root);
    let version = Version::of(namespace);
    let Some((version, exact)) = version.filter(|_| document.local(root) == "definitions") else {
        let At { line, column } = places.at(document.span(root).start);
        let name = document.part(root).name;
        let message = format!("The root element `{name}` is not the `definitions` of a DMN document.");
        return Err(XmlError { message, line, column, reason: "notDmn" });
    };
    let mut reader = Reader {
        document,
        places,
        namespace: document.namespace_index(root),
        own: None,
        imports: Vec::new(),
        diagnostics: Vec::new(),
    };
    if !exact {
        let message = format!(
            "The namespace {namespace:?} is not known; the document is read as DMN {}.",
            version.number()
        );
        let at = reader.at(root);
        reader.diagnostics.push(Diagnostic::warning("unknownVersion", message).at(at));
    }
    let model = reader.definitions(root)?;
    Ok(Imported { model, version, diagnostics: reader.diagnostics })
}

impl<'s> Reader<'_, 's> {
    fn attribute(&self, el: El, name: &str) -> Option<String> {
        self.document.attribute(el, name).map(std::borrow::Cow::into_owned)
    }

    /// The value of an attribute that names a language or schema; those of other versions are DMN 1.5's.
    fn language(&self, el: El, name: &str) -> Option<String> {
        let value = self.attribute(el, name)?;
        Some(super::upgrade::namespace(&value).map_or(value, str::to_owned))
    }

    fn at(&self, el: El) -> At {
        self.places.at(self.document.span(el).start)
    }

    /// The child elements of the model's namespace with their names; others are extensions.
    fn children(&self, el: El) -> Vec<(&'s str, El)> {
        let of = |&child: &El| self.document.namespace_index(child) == self.namespace;
        self.document.children(el).filter(of).map(|child| (self.document.local(child), child)).collect()
    }

    fn child(&self, el: El, name: &str) -> Option<El> {
        self.document.children(el).find(|&child| {
            self.document.local(child) == name && self.document.namespace_index(child) == self.namespace
        })
    }

    fn description(&self, el: El) -> Option<String> {
        self.child(el, "description").map(|child| self.document.text(child).into_owned())
    }

    fn content(&self, el: El) -> Option<String> {
        Some(self.document.text(el).into_owned())
    }

    fn href(&self, el: El) -> Option<String> {
        self.attribute(el, "href").map(|href| href.trim().to_owned())
    }

    /// An element that no member is for.
    fn other(&mut self, name: &str, el: El) {
        if !KEPT.contains(&name) {
            let message = format!("The element `{name}` has no meaning here.");
            let at = self.at(el);
            self.diagnostics.push(Diagnostic::warning("unknownElement", message).at(at));
        }
    }

    fn too_deep(&self, el: El) -> XmlError {
        let At { line, column } = self.at(el);
        let message = format!("Expressions and types are nested at most {MAX_NESTING} levels deep.");
        XmlError { message, line, column, reason: "nestingTooDeep" }
    }

    /// A type's name. DMN 1.1 writes qualified names, whose prefix tells FEEL, this model or an import.
    fn type_name(&self, el: El, text: &str) -> String {
        let text = text.trim();
        let Some((prefix, local)) = text.split_once(':') else { return text.to_owned() };
        let Some(uri) = self.document.bound(el, prefix) else {
            return if prefix == "feel" { local.to_owned() } else { text.to_owned() };
        };
        if uri.contains("FEEL") || self.own.as_deref() == Some(uri) {
            return local.to_owned();
        }
        match self.imports.iter().find(|(namespace, _)| namespace == uri) {
            Some((_, name)) => format!("{name}.{local}"),
            None => text.to_owned(),
        }
    }

    fn type_ref(&self, el: El) -> Option<String> {
        self.document.attribute(el, "typeRef").map(|text| self.type_name(el, &text))
    }

    fn definitions(&mut self, root: El) -> Result<DecisionModel, XmlError> {
        self.own = self.attribute(root, "namespace");
        let mut model = element!(
            self,
            root,
            DecisionModel {
                name: self.attribute(root, "name"),
                namespace: self.own.clone(),
                expression_language: self.language(root, "expressionLanguage"),
                type_language: self.language(root, "typeLanguage"),
                exporter: self.attribute(root, "exporter"),
                exporter_version: self.attribute(root, "exporterVersion"),
                source_xml: Some(self.document.source.to_owned()),
            }
        );
        for (name, el) in self.children(root) {
            if name == "import" {
                let import = self.import(el);
                if let (Some(namespace), Some(name)) = (&import.namespace, &import.name) {
                    self.imports.push((namespace.clone(), name.clone()));
                }
                model.imports.push(import);
            }
        }
        for (name, el) in self.children(root) {
            match name {
                "import" => {}
                "itemDefinition" => model.item_definitions.push(self.item_definition(el, 0)?),
                "inputData" => model.input_data.push(element!(
                    self,
                    el,
                    InputData { name: self.attribute(el, "name"), variable: self.variable(el) }
                )),
                "decision" => model.decisions.push(self.decision(el)?),
                "businessKnowledgeModel" => model.business_knowledge_models.push(self.knowledge_model(el)?),
                "decisionService" => model.decision_services.push(self.service(el)),
                "knowledgeSource" => model.knowledge_sources.push(self.knowledge_source(el)),
                other => self.other(other, el),
            }
        }
        Ok(model)
    }

    fn import(&self, el: El) -> Import {
        let namespace = self.attribute(el, "namespace");
        // DMN 1.1 has no name here but the prefix that is bound to the namespace.
        let name = self.attribute(el, "name").or_else(|| {
            let bound = |attribute: &&heddle_xml::Attribute<'_>| {
                attribute.binds().is_some_and(|prefix| !prefix.is_empty())
                    && Some(&*attribute.value()) == namespace.as_deref()
            };
            let root = self.document.root();
            let found = self.document.attributes(root).iter().find(bound)?;
            found.binds().map(str::to_owned)
        });
        element!(
            self,
            el,
            Import {
                name: name,
                namespace: namespace,
                location_uri: self.attribute(el, "locationURI"),
                import_type: self.language(el, "importType"),
            }
        )
    }

    fn item(&self, el: El) -> InformationItem {
        element!(self, el, InformationItem { name: self.attribute(el, "name"), type_ref: self.type_ref(el) })
    }

    fn variable(&self, el: El) -> Option<InformationItem> {
        self.child(el, "variable").map(|el| self.item(el))
    }

    fn item_definition(&mut self, el: El, depth: usize) -> Result<ItemDefinition, XmlError> {
        if depth >= MAX_NESTING {
            return Err(self.too_deep(el));
        }
        let is_collection =
            self.attribute(el, "isCollection").map(|text| matches!(text.trim(), "true" | "1"));
        let mut item = element!(
            self,
            el,
            ItemDefinition {
                name: self.attribute(el, "name"),
                type_language: self.language(el, "typeLanguage"),
                is_collection: is_collection,
            }
        );
        for (name, child) in self.children(el) {
            match name {
                "typeRef" => item.type_ref = Some(self.type_name(child, &self.document.text(child))),
                "allowedValues" => item.allowed_values = Some(self.unary_tests(child)),
                "typeConstraint" => item.type_constraint = Some(self.unary_tests(child)),
                "itemComponent" => item.item_components.push(self.item_definition(child, depth + 1)?),
                "functionItem" => {
                    let output = self.document.attribute(child, "outputTypeRef");
                    let parameters =
                        self.children(child).into_iter().filter(|(name, _)| *name == "parameters");
                    item.function_item = Some(element!(
                        self,
                        child,
                        FunctionItem {
                            output_type_ref: output.map(|text| self.type_name(child, &text)),
                            parameters: parameters.map(|(_, el)| self.item(el)).collect(),
                        }
                    ));
                }
                other => self.other(other, child),
            }
        }
        Ok(item)
    }

    fn decision(&mut self, el: El) -> Result<Decision, XmlError> {
        let mut decision = element!(self, el, Decision { name: self.attribute(el, "name") });
        for (name, child) in self.children(el) {
            match name {
                "question" => decision.question = self.content(child),
                "allowedAnswers" => decision.allowed_answers = self.content(child),
                "variable" => decision.variable = Some(self.item(child)),
                "informationRequirement" => {
                    let reference = |name| self.child(child, name).and_then(|el| self.href(el));
                    let requirement = element!(
                        self,
                        child,
                        InformationRequirement {
                            required_decision: reference("requiredDecision"),
                            required_input: reference("requiredInput"),
                        }
                    );
                    decision.information_requirements.push(requirement);
                }
                "knowledgeRequirement" => decision.knowledge_requirements.push(self.knowledge(child)),
                "authorityRequirement" => decision.authority_requirements.push(self.authority(child)),
                other => match self.expression(other, child, 0)? {
                    Some(expression) => decision.expression = Some(expression),
                    None => self.other(other, child),
                },
            }
        }
        Ok(decision)
    }

    fn knowledge(&self, el: El) -> KnowledgeRequirement {
        let required = self.child(el, "requiredKnowledge").and_then(|el| self.href(el));
        element!(self, el, KnowledgeRequirement { required_knowledge: required })
    }

    fn authority(&self, el: El) -> AuthorityRequirement {
        let reference = |name| self.child(el, name).and_then(|el| self.href(el));
        element!(
            self,
            el,
            AuthorityRequirement {
                required_decision: reference("requiredDecision"),
                required_input: reference("requiredInput"),
                required_authority: reference("requiredAuthority"),
            }
        )
    }

    fn knowledge_model(&mut self, el: El) -> Result<BusinessKnowledgeModel, XmlError> {
        let mut model = element!(
            self,
            el,
            BusinessKnowledgeModel { name: self.attribute(el, "name"), variable: self.variable(el) }
        );
        for (name, child) in self.children(el) {
            match name {
                "variable" => {}
                "encapsulatedLogic" => model.encapsulated_logic = Some(self.function(child, 0)?),
                "knowledgeRequirement" => model.knowledge_requirements.push(self.knowledge(child)),
                "authorityRequirement" => model.authority_requirements.push(self.authority(child)),
                other => self.other(other, child),
            }
        }
        Ok(model)
    }

    fn service(&mut self, el: El) -> DecisionService {
        let mut service = element!(
            self,
            el,
            DecisionService { name: self.attribute(el, "name"), variable: self.variable(el) }
        );
        for (name, child) in self.children(el) {
            let list = match name {
                "outputDecision" => &mut service.output_decisions,
                "encapsulatedDecision" => &mut service.encapsulated_decisions,
                "inputDecision" => &mut service.input_decisions,
                "inputData" => &mut service.input_data,
                "variable" => continue,
                other => {
                    self.other(other, child);
                    continue;
                }
            };
            list.extend(self.href(child));
        }
        service
    }

    fn knowledge_source(&mut self, el: El) -> KnowledgeSource {
        let mut source = element!(
            self,
            el,
            KnowledgeSource {
                name: self.attribute(el, "name"),
                location_uri: self.attribute(el, "locationURI"),
            }
        );
        for (name, child) in self.children(el) {
            match name {
                "authorityRequirement" => source.authority_requirements.push(self.authority(child)),
                "type" => source.r#type = self.content(child),
                "owner" => source.owner = self.href(child),
                other => self.other(other, child),
            }
        }
        source
    }

    /// The text within `text`, and where it begins.
    fn text(&self, el: El) -> (Option<String>, At) {
        match self.child(el, "text") {
            Some(text) => (self.content(text), self.places.at(self.document.content_start(text))),
            None => (None, self.at(el)),
        }
    }

    fn unary_tests(&self, el: El) -> UnaryTestsText {
        let (text, at) = self.text(el);
        UnaryTestsText {
            id: self.attribute(el, "id"),
            label: self.attribute(el, "label"),
            description: self.description(el),
            type_ref: self.type_ref(el),
            expression_language: self.language(el, "expressionLanguage"),
            text,
            at,
        }
    }

    fn literal(&self, el: El) -> LiteralExpression {
        let (text, at) = self.text(el);
        LiteralExpression {
            id: self.attribute(el, "id"),
            label: self.attribute(el, "label"),
            description: self.description(el),
            type_ref: self.type_ref(el),
            expression_language: self.language(el, "expressionLanguage"),
            text,
            at,
        }
    }

    /// The expression that the element is; `None` when it is none.
    fn expression(&mut self, name: &str, el: El, depth: usize) -> Result<Option<BoxedExpression>, XmlError> {
        if depth >= MAX_NESTING {
            return Err(self.too_deep(el));
        }
        Ok(Some(match name {
            "literalExpression" => BoxedExpression::LiteralExpression(self.literal(el)),
            "decisionTable" => BoxedExpression::DecisionTable(self.table(el)),
            "context" => BoxedExpression::Context(self.context(el, depth)?),
            "list" => BoxedExpression::List(element!(
                self,
                el,
                ListExpression { type_ref: self.type_ref(el), items: self.expressions(el, depth)? }
            )),
            "relation" => BoxedExpression::Relation(self.relation(el, depth)?),
            "invocation" => BoxedExpression::Invocation(Box::new(self.invocation(el, depth)?)),
            "functionDefinition" => BoxedExpression::FunctionDefinition(Box::new(self.function(el, depth)?)),
            "conditional" => BoxedExpression::Conditional(Box::new(element!(
                self,
                el,
                ConditionalExpression {
                    type_ref: self.type_ref(el),
                    r#if: self.inner(el, "if", depth)?,
                    then: self.inner(el, "then", depth)?,
                    r#else: self.inner(el, "else", depth)?,
                }
            ))),
            "filter" => BoxedExpression::Filter(Box::new(element!(
                self,
                el,
                FilterExpression {
                    type_ref: self.type_ref(el),
                    r#in: self.inner(el, "in", depth)?,
                    r#match: self.inner(el, "match", depth)?,
                }
            ))),
            "for" => BoxedExpression::For(Box::new(element!(
                self,
                el,
                ForExpression {
                    type_ref: self.type_ref(el),
                    iterator_variable: self.attribute(el, "iteratorVariable"),
                    in_type_ref: self.child(el, "in").and_then(|el| self.type_ref(el)),
                    r#in: self.inner(el, "in", depth)?,
                    r#return: self.inner(el, "return", depth)?,
                }
            ))),
            "some" => BoxedExpression::Some(Box::new(self.quantified(el, depth)?)),
            "every" => BoxedExpression::Every(Box::new(self.quantified(el, depth)?)),
            _ => return Ok(None),
        }))
    }

    fn quantified(&mut self, el: El, depth: usize) -> Result<QuantifiedExpression, XmlError> {
        Ok(element!(
            self,
            el,
            QuantifiedExpression {
                type_ref: self.type_ref(el),
                iterator_variable: self.attribute(el, "iteratorVariable"),
                in_type_ref: self.child(el, "in").and_then(|el| self.type_ref(el)),
                r#in: self.inner(el, "in", depth)?,
                satisfies: self.inner(el, "satisfies", depth)?,
            }
        ))
    }

    /// The first expression among the children of the child of that name.
    fn inner(&mut self, el: El, name: &str, depth: usize) -> Result<Option<BoxedExpression>, XmlError> {
        match self.child(el, name) {
            Some(child) => self.first(child, depth),
            None => Ok(None),
        }
    }

    fn first(&mut self, el: El, depth: usize) -> Result<Option<BoxedExpression>, XmlError> {
        for (name, child) in self.children(el) {
            if let Some(expression) = self.expression(name, child, depth + 1)? {
                return Ok(Some(expression));
            }
        }
        Ok(None)
    }

    fn expressions(&mut self, el: El, depth: usize) -> Result<Vec<BoxedExpression>, XmlError> {
        let mut items = Vec::new();
        for (name, child) in self.children(el) {
            match self.expression(name, child, depth + 1)? {
                Some(expression) => items.push(expression),
                None => self.other(name, child),
            }
        }
        Ok(items)
    }

    fn context(&mut self, el: El, depth: usize) -> Result<ContextExpression, XmlError> {
        let mut context = element!(self, el, ContextExpression { type_ref: self.type_ref(el) });
        for (name, child) in self.children(el) {
            if name == "contextEntry" {
                let value = self.first(child, depth)?;
                let entry =
                    element!(self, child, ContextEntry { variable: self.variable(child), value: value });
                context.entries.push(entry);
            } else {
                self.other(name, child);
            }
        }
        Ok(context)
    }

    fn relation(&mut self, el: El, depth: usize) -> Result<Relation, XmlError> {
        let mut relation = element!(self, el, Relation { type_ref: self.type_ref(el) });
        for (name, child) in self.children(el) {
            match name {
                "column" => relation.columns.push(self.item(child)),
                "row" => {
                    let items = self.expressions(child, depth)?;
                    let row =
                        element!(self, child, RelationRow { type_ref: self.type_ref(child), items: items });
                    relation.rows.push(row);
                }
                other => self.other(other, child),
            }
        }
        Ok(relation)
    }

    fn invocation(&mut self, el: El, depth: usize) -> Result<Invocation, XmlError> {
        let mut invocation = element!(self, el, Invocation { type_ref: self.type_ref(el) });
        for (name, child) in self.children(el) {
            if name == "binding" {
                let parameter = self.child(child, "parameter").map(|el| self.item(el));
                let expression = self.first(child, depth)?;
                invocation.bindings.push(Binding { parameter, expression });
                continue;
            }
            match self.expression(name, child, depth + 1)? {
                Some(expression) => invocation.called_function = Some(expression),
                None => self.other(name, child),
            }
        }
        Ok(invocation)
    }

    fn function(&mut self, el: El, depth: usize) -> Result<FunctionDefinition, XmlError> {
        let kind = match self.attribute(el, "kind").as_deref().map(str::trim) {
            Some("Java" | "J") => Some(FunctionKind::Java),
            Some("PMML" | "P") => Some(FunctionKind::Pmml),
            Some(_) => Some(FunctionKind::Feel),
            None => None,
        };
        let mut function = element!(self, el, FunctionDefinition { type_ref: self.type_ref(el), kind: kind });
        for (name, child) in self.children(el) {
            if name == "formalParameter" {
                function.formal_parameters.push(self.item(child));
                continue;
            }
            match self.expression(name, child, depth + 1)? {
                Some(expression) => function.body = Some(expression),
                None => self.other(name, child),
            }
        }
        Ok(function)
    }

    fn word<T>(&mut self, el: El, name: &str, known: impl Fn(&str) -> Option<T>) -> Option<T> {
        let text = self.attribute(el, name)?;
        let found = known(text.trim());
        if found.is_none() {
            let message = format!("The value {text:?} of `{name}` is not known.");
            let at = self.at(el);
            let id = self.attribute(el, "id");
            self.diagnostics.push(Diagnostic::error("unknownValue", message).about(id.as_ref(), None, at));
        }
        found
    }

    fn table(&mut self, el: El) -> DecisionTable {
        let hit_policy = self.word(el, "hitPolicy", hit_policy);
        let aggregation = self.word(el, "aggregation", |text| {
            Some(match text {
                "SUM" => Aggregation::Sum,
                "COUNT" => Aggregation::Count,
                "MIN" => Aggregation::Min,
                "MAX" => Aggregation::Max,
                _ => return None,
            })
        });
        let preferred_orientation = self.word(el, "preferredOrientation", |text| {
            Some(match text {
                "Rule-as-Row" => Orientation::RuleAsRow,
                "Rule-as-Column" => Orientation::RuleAsColumn,
                "CrossTable" => Orientation::CrossTable,
                _ => return None,
            })
        });
        let mut table = element!(
            self,
            el,
            DecisionTable {
                type_ref: self.type_ref(el),
                hit_policy: hit_policy,
                aggregation: aggregation,
                preferred_orientation: preferred_orientation,
                output_label: self.attribute(el, "outputLabel"),
            }
        );
        for (name, child) in self.children(el) {
            match name {
                "input" => table.inputs.push(element!(
                    self,
                    child,
                    InputClause {
                        input_expression: self.child(child, "inputExpression").map(|el| self.literal(el)),
                        input_values: self.child(child, "inputValues").map(|el| self.unary_tests(el)),
                    }
                )),
                "output" => table.outputs.push(element!(
                    self,
                    child,
                    OutputClause {
                        name: self.attribute(child, "name"),
                        type_ref: self.type_ref(child),
                        output_values: self.child(child, "outputValues").map(|el| self.unary_tests(el)),
                        default_output_entry: self
                            .child(child, "defaultOutputEntry")
                            .map(|el| self.literal(el)),
                    }
                )),
                "annotation" => {
                    table.annotations.push(RuleAnnotationClause { name: self.attribute(child, "name") });
                }
                "rule" => {
                    let rule = self.rule(child);
                    table.rules.push(rule);
                }
                other => self.other(other, child),
            }
        }
        table
    }

    fn rule(&mut self, el: El) -> DecisionRule {
        let mut rule = element!(self, el, DecisionRule {});
        for (name, child) in self.children(el) {
            match name {
                "inputEntry" => rule.input_entries.push(self.unary_tests(child)),
                "outputEntry" => rule.output_entries.push(self.literal(child)),
                "annotationEntry" => {
                    let text = self.child(child, "text").and_then(|el| self.content(el));
                    rule.annotation_entries.push(text.unwrap_or_default());
                }
                other => self.other(other, child),
            }
        }
        rule
    }
}

/// A hit policy by its name, or by the letter that tables show.
fn hit_policy(text: &str) -> Option<HitPolicy> {
    Some(match text {
        "UNIQUE" | "U" => HitPolicy::Unique,
        "FIRST" | "F" => HitPolicy::First,
        "PRIORITY" | "P" => HitPolicy::Priority,
        "ANY" | "A" => HitPolicy::Any,
        "COLLECT" | "C" => HitPolicy::Collect,
        "RULE ORDER" | "R" => HitPolicy::RuleOrder,
        "OUTPUT ORDER" | "O" => HitPolicy::OutputOrder,
        _ => return None,
    })
}
