//! From a document to a model.

#![expect(clippy::needless_update, reason = "the shapes of one macro have more members or none")]

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

mod boxes;
mod context;
mod table;

use heddle_xml::{Document, El, XmlError};

use super::place::Places;
use super::{Imported, MAX_NESTING, Version};
use crate::diagnostic::{self, Diagnostic, Placed as _};
use crate::model::{
    At, AuthorityRequirement, BusinessKnowledgeModel, Decision, DecisionModel, DecisionService, FunctionItem,
    Import, InformationItem, InformationRequirement, InputData, ItemDefinition, KnowledgeRequirement,
    KnowledgeSource,
};

/// Elements that the model has no member for: they stay in the source, from which the writer takes them.
pub(super) const KEPT: [&str; 5] = ["extensionElements", "description", "DMNDI", "text", "informationItem"];

struct Reader<'d, 's> {
    document: &'d Document<'s>,
    places: Places<'s>,
    /// Which namespaces of the document are those of models.
    models: &'d [bool],
    /// The model's own namespace.
    own: Option<String>,
    /// Names of imports by namespace.
    imports: Vec<(String, String)>,
    diagnostics: Vec<Diagnostic>,
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
    let models = super::upgrade::of_models(document);
    let mut reader =
        Reader { document, places, models: &models, own: None, imports: Vec::new(), diagnostics: Vec::new() };
    if !exact {
        let message = format!(
            "The namespace {namespace:?} is not known; the document is read as DMN {}.",
            version.number()
        );
        let at = reader.at(root);
        reader.diagnostics.push(diagnostic::warning("unknownVersion", message).at(at));
    }
    let model = reader.definitions(root)?;
    Ok(Imported { model, version, diagnostics: reader.diagnostics })
}

impl<'d, 's> Reader<'d, 's> {
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
    fn children(&self, el: El) -> impl Iterator<Item = (&'s str, El)> + use<'d, 's> {
        let (document, models) = (self.document, self.models);
        let of = move |child: &El| models.get(document.part(*child).ns.index()) == Some(&true);
        document.children(el).filter(of).map(|child| (document.local(child), child))
    }

    /// Upper bound of the number of the element's children.
    fn room(&self, el: El) -> usize {
        self.document.children(el).count()
    }

    fn child(&self, el: El, name: &str) -> Option<El> {
        self.children(el).find(|(local, _)| *local == name).map(|(_, child)| child)
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
            self.diagnostics.push(diagnostic::warning("unknownElement", message).at(at));
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
        // With two colons it is no qualified name.
        let qualified = text.bytes().filter(|&byte| byte == b':').count() == 1;
        let Some((prefix, local)) = text.split_once(':').filter(|_| qualified) else {
            return text.to_owned();
        };
        let Some(uri) = self.document.bound(el, prefix) else {
            return if prefix == "feel" { local.to_owned() } else { text.to_owned() };
        };
        // The prefix `feel` means FEEL even when a tool got the namespace wrong.
        if prefix == "feel" || uri.contains("FEEL") || self.own.as_deref() == Some(uri) {
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
                other => self.around(other, el, &mut model),
            }
        }
        Ok(model)
    }

    fn import(&self, el: El) -> Import {
        let namespace = self.attribute(el, "namespace");
        // DMN 1.1 has no name here but the prefix that is bound to the namespace.
        let name = self.attribute(el, "name").or_else(|| {
            let declared = self.document.declarations(self.document.root()).iter();
            let mut bound = declared.filter(|own| !own.prefix.is_empty());
            let found = bound.find(|own| Some(&*own.value()) == namespace.as_deref())?;
            Some(found.prefix.to_owned())
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
                    let parameters = self.children(child).filter(|(name, _)| *name == "parameters");
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
                    None => self.around_decision(other, child, &mut decision),
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

    /// An attribute whose values are known words.
    fn word<T>(&mut self, el: El, name: &str, known: impl Fn(&str) -> Option<T>) -> Option<T> {
        let text = self.attribute(el, name)?;
        let found = known(text.trim());
        if found.is_none() {
            let message = format!("The value {text:?} of `{name}` is not known.");
            let at = self.at(el);
            let id = self.attribute(el, "id");
            self.diagnostics.push(diagnostic::error("unknownValue", message).about(id.as_ref(), None, at));
        }
        found
    }
}
