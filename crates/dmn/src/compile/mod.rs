//! From models to the compiled form: names resolved, requirements a graph without cycles, FEEL compiled once.

mod index;
mod logic;
mod names;
mod plain;
pub(crate) mod plan;
pub(crate) mod table;
mod texts;
mod types;

use std::sync::Arc;

use heddle_feel::Dialect;

use self::logic::Compiler;
use self::names::Document;
use self::plan::{Body, Import, Kind, Logic, Node, NodeId, Place, Plan, Requirement, Service};
use self::texts::Texts;
use self::types::Types;
use crate::diagnostic::{self, Diagnostic, Severity};
use crate::model::{
    BoxedExpression, BusinessKnowledgeModel, Decision, DecisionModel, DecisionService, InformationItem,
    InputData,
};
use heddle_xml::hash::{HashMap, HashSet};

/// A compiled model, ready to be evaluated often and by several threads. Cloning shares it.
#[derive(Debug, Clone)]
pub struct Model(pub(crate) Arc<Plan>);

/// Result of compiling: a model even when parts of it are wrong, which then are null, and the diagnostics.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The model.
    pub model: Model,
    /// Errors, warnings and notes about the model.
    pub diagnostics: Vec<Diagnostic>,
}

impl Compiled {
    /// The model when nothing in it is wrong.
    ///
    /// # Errors
    /// The findings, when one of them is an error.
    pub fn strict(self) -> Result<Model, Vec<Diagnostic>> {
        if self.diagnostics.iter().any(|found| found.severity == Severity::Error) {
            Err(self.diagnostics)
        } else {
            Ok(self.model)
        }
    }
}

/// An element of the requirements graph before its logic is compiled.
enum Source<'m> {
    Input(&'m InputData),
    Decision(&'m Decision),
    Function(&'m BusinessKnowledgeModel),
    Service(&'m DecisionService),
}

impl Source<'_> {
    /// Whether it is a decision whose whole logic is a table.
    const fn is_table(&self) -> bool {
        let Self::Decision(decision) = self else { return false };
        matches!(decision.expression, Some(BoxedExpression::DecisionTable(_)))
    }
}

struct Element<'m> {
    document: usize,
    id: Option<&'m String>,
    name: Option<&'m String>,
    variable: Option<&'m InformationItem>,
    source: Source<'m>,
    requirements: Vec<Requirement>,
    needs: Vec<NodeId>,
}

impl Element<'_> {
    fn place(&self, texts: &Texts) -> Place {
        texts.place(self.id, self.name, self.variable.map(|own| own.at).unwrap_or_default())
    }
}

struct Graph<'m> {
    documents: &'m [Document<'m>],
    elements: Vec<Element<'m>>,
    by_id: HashMap<(usize, &'m str), NodeId>,
}

/// Compiles a model, the first of these documents, with the documents that it imports.
#[must_use]
pub fn compile(models: &[DecisionModel]) -> Compiled {
    compile_with(models, Dialect::Standard)
}

/// Compiles a model whose FEEL is of that dialect.
#[must_use]
pub fn compile_with(models: &[DecisionModel], dialect: Dialect) -> Compiled {
    let mut texts = Texts { dialect, ..Texts::default() };
    let (documents, missing) = names::documents(models);
    for (at, namespace) in missing {
        let message = format!("The model {namespace:?} is imported but not given.");
        let model = documents.get(at).map(|document| document.model);
        let place = texts.place(
            model.and_then(|model| model.id.as_ref()),
            model.and_then(|model| model.name.as_ref()),
            model.map(|model| model.at).unwrap_or_default(),
        );
        texts.report(diagnostic::error("importMissing", message), &place);
    }
    let mut graph = Graph::new(&documents);
    graph.require(&mut texts);
    let broken = graph.cycles(&mut texts);
    graph.twins(&mut texts);
    let mut types = Types::new(&documents);
    let settings = settings(&documents);
    let mut nodes = Vec::with_capacity(graph.elements.len());
    let declared: HashSet<Arc<str>> =
        graph.elements.iter().filter_map(|element| element.name).map(|name| Arc::from(name.trim())).collect();
    for (at, element) in graph.elements.iter().enumerate() {
        if let Some((members, kinds, language)) = settings.get(element.document) {
            texts.members = members.clone();
            texts.types = kinds.clone();
            texts.language.clone_from(language);
        }
        let cycle = broken.get(&at);
        nodes.push(graph.node(element, cycle, &declared, &mut texts, &mut types));
    }
    types.finish();
    let mut plan = Plan { nodes, declared, ..Plan::default() };
    for (at, node) in plan.nodes.iter().enumerate() {
        let at = NodeId::try_from(at).unwrap_or(NodeId::MAX);
        plan.by_name.entry(node.name.clone()).or_default().push(at);
        if let Some(id) = &node.id {
            plan.by_id.entry(id.clone()).or_default().push(at);
        }
    }
    let plan = Arc::new(plan);
    Compiled { model: Model(plan), diagnostics: texts.diagnostics }
}

type Settings = (Arc<Vec<String>>, Arc<Vec<String>>, Option<String>);

/// The members, types and language of each document.
fn settings(documents: &[Document<'_>]) -> Vec<Settings> {
    let members: Vec<Vec<String>> = documents.iter().map(|document| names::members(document.model)).collect();
    let of = |(at, document): (usize, &Document<'_>)| {
        let mut own = members.get(at).cloned().unwrap_or_default();
        let items = document.model.item_definitions.iter();
        let mut kinds: Vec<String> = items.filter_map(|item| item.name.clone()).collect();
        for (name, target) in &document.imports {
            own.extend(members.get(*target).cloned().unwrap_or_default());
            let imported = documents.get(*target).map(|document| &document.model.item_definitions);
            for item in imported.into_iter().flatten() {
                let item = item.name.as_deref().unwrap_or_default();
                kinds.push(if name.is_empty() { item.to_owned() } else { format!("{name}.{item}") });
            }
        }
        let language = document.model.expression_language.clone();
        let language = language.filter(|language| !language.to_ascii_lowercase().contains("feel"));
        (Arc::new(own), Arc::new(kinds), language)
    };
    documents.iter().enumerate().map(of).collect()
}

impl<'m> Graph<'m> {
    /// Elements of one document with one id, or decisions with one name: the first one counts.
    fn twins(&self, texts: &mut Texts) {
        let mut known: HashSet<(usize, bool, &str)> = HashSet::default();
        for element in &self.elements {
            if let Some(id) = element.id
                && !known.insert((element.document, true, id))
            {
                let message = format!("Two elements have the id {id:?}.");
                let place = element.place(texts);
                texts.report(diagnostic::error("duplicateId", message), &place);
            }
            if let Some(name) = element.name
                && matches!(element.source, Source::Decision(_) | Source::Service(_))
                && !known.insert((element.document, false, name.trim()))
            {
                let message = format!("Two decisions have the name {name:?}: the first one is meant by it.");
                let place = element.place(texts);
                texts.report(diagnostic::warning("duplicateName", message), &place);
            }
        }
    }

    fn new(documents: &'m [Document<'m>]) -> Self {
        let mut graph = Self { documents, elements: Vec::new(), by_id: HashMap::default() };
        for (document, it) in documents.iter().enumerate() {
            let model = it.model;
            for input in &model.input_data {
                graph.add(document, &input.id, &input.name, &input.variable, Source::Input(input));
            }
            for decision in &model.decisions {
                graph.add(
                    document,
                    &decision.id,
                    &decision.name,
                    &decision.variable,
                    Source::Decision(decision),
                );
            }
            for function in &model.business_knowledge_models {
                graph.add(
                    document,
                    &function.id,
                    &function.name,
                    &function.variable,
                    Source::Function(function),
                );
            }
            for service in &model.decision_services {
                graph.add(document, &service.id, &service.name, &service.variable, Source::Service(service));
            }
        }
        graph
    }

    fn add(
        &mut self,
        document: usize,
        id: &'m Option<String>,
        name: &'m Option<String>,
        variable: &'m Option<InformationItem>,
        source: Source<'m>,
    ) {
        let at = NodeId::try_from(self.elements.len()).unwrap_or(NodeId::MAX);
        if let Some(id) = id {
            self.by_id.entry((document, id.as_str())).or_insert(at);
        }
        let variable = variable.as_ref();
        let name =
            name.as_ref().or_else(|| variable.and_then(|variable| variable.name.as_ref())).or(id.as_ref());
        self.elements.push(Element {
            document,
            id: id.as_ref(),
            name,
            variable,
            source,
            requirements: Vec::new(),
            needs: Vec::new(),
        });
    }

    fn element(&self, at: NodeId) -> Option<&Element<'m>> {
        self.elements.get(at as usize)
    }

    fn find(&self, document: usize, href: &str) -> Option<NodeId> {
        let (document, id) = names::reference(self.documents, document, href)?;
        self.by_id.get(&(document, id)).copied()
    }

    /// The names by which logic of the document may call the element: qualified by the import's when it is another's.
    fn names(&self, from: usize, at: NodeId) -> Vec<Arc<str>> {
        let Some(element) = self.element(at) else { return Vec::new() };
        let own = element.name.map(|name| name.trim());
        let variable = element.variable.and_then(|variable| variable.name.as_deref()).map(str::trim);
        let mut names: Vec<&str> = variable.into_iter().chain(own).filter(|name| !name.is_empty()).collect();
        names.dedup();
        if element.document == from {
            // Engines whose users have no variables call a decision's result by its id or the table's output.
            let id = element.id.map(|id| id.as_str()).filter(|id| !names.contains(id));
            let mut output = None;
            if let Source::Decision(Decision {
                expression: Some(BoxedExpression::DecisionTable(table)), ..
            }) = &element.source
                && let [output_clause] = table.outputs.as_slice()
            {
                output = output_clause.name.as_deref().map(str::trim);
            }
            let mut all: Vec<Arc<str>> = names.iter().map(|name| Arc::from(*name)).collect();
            let more = id.into_iter().chain(output.filter(|name| !names.contains(name) && Some(*name) != id));
            all.extend(more.map(Arc::from));
            return all;
        }
        let imports = self.documents.get(from).map(|document| &document.imports);
        let import =
            imports.and_then(|imports| imports.iter().find(|(_, target)| *target == element.document));
        let qualified = |name: &&str| match import {
            Some((prefix, _)) if !prefix.is_empty() => Arc::from(format!("{prefix}.{name}")),
            _ => Arc::from(*name),
        };
        names.iter().map(qualified).collect()
    }

    /// Resolves the requirements of all elements.
    fn require(&mut self, texts: &mut Texts) {
        for at in 0..self.elements.len() {
            let Some(element) = self.elements.get(at) else { continue };
            let (values, knowledge) = match &element.source {
                Source::Input(_) => continue,
                Source::Decision(decision) => {
                    let values = decision.information_requirements.iter();
                    let values =
                        values.filter_map(|it| it.required_decision.as_ref().or(it.required_input.as_ref()));
                    (values.collect(), &decision.knowledge_requirements)
                }
                Source::Function(function) => (Vec::new(), &function.knowledge_requirements),
                Source::Service(_) => continue,
            };
            let place = texts.place(element.id, element.name, At::of(&element.source));
            let document = element.document;
            let mut requirements = Vec::new();
            let mut aliases = Vec::new();
            let mut needs = Vec::new();
            let knowledge = knowledge.iter().filter_map(|it| it.required_knowledge.as_ref());
            let hrefs =
                values.into_iter().map(|href| (href, true)).chain(knowledge.map(|href| (href, false)));
            for (href, is_value) in hrefs {
                let Some(node) = self.find(document, href) else {
                    let message = format!("There is no element {href:?}, which is required here.");
                    texts.report(diagnostic::error("requirementMissing", message), &place);
                    continue;
                };
                let mut names = self.names(document, node).into_iter();
                requirements.extend(names.next().map(|name| Requirement { name, node }));
                aliases.extend(names.map(|name| Requirement { name, node }));
                let callable = self.element(node).is_some_and(|element| {
                    matches!(element.source, Source::Function(_) | Source::Service(_))
                });
                if is_value && !callable {
                    needs.push(node);
                }
            }
            for alias in aliases {
                if !requirements.iter().any(|known| known.name == alias.name) {
                    requirements.push(alias);
                }
            }
            if let Some(element) = self.elements.get_mut(at) {
                if matches!(element.source, Source::Function(_))
                    && let Some(name) = element.name
                {
                    let node = NodeId::try_from(at).unwrap_or(NodeId::MAX);
                    requirements.push(Requirement { name: Arc::from(name.trim()), node });
                }
                element.requirements = requirements;
                element.needs = needs;
            }
        }
    }

    /// Finds the decisions that require themselves, and why.
    fn cycles(&self, texts: &mut Texts) -> HashMap<usize, Arc<str>> {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let mut states = vec![State::New; self.elements.len()];
        let mut broken = HashMap::default();
        for start in 0..self.elements.len() {
            let mut path: Vec<(usize, usize)> = vec![(start, 0)];
            if states.get(start) != Some(&State::New) {
                continue;
            }
            while let Some((at, next)) = path.last().copied() {
                if let Some(state) = states.get_mut(at) {
                    *state = State::Open;
                }
                let Some(&need) = self.elements.get(at).and_then(|element| element.needs.get(next)) else {
                    if let Some(state) = states.get_mut(at) {
                        *state = State::Done;
                    }
                    path.pop();
                    continue;
                };
                if let Some(last) = path.last_mut() {
                    last.1 += 1;
                }
                let need = need as usize;
                match states.get(need) {
                    Some(State::New) => path.push((need, 0)),
                    Some(State::Open) => self.cycle(&path, need, &mut broken, texts),
                    _ => {}
                }
            }
        }
        broken
    }

    fn cycle(
        &self,
        path: &[(usize, usize)],
        need: usize,
        broken: &mut HashMap<usize, Arc<str>>,
        texts: &mut Texts,
    ) {
        let from = path.iter().position(|(at, _)| *at == need).unwrap_or(0);
        let members: Vec<usize> = path.iter().skip(from).map(|(at, _)| *at).collect();
        let name = |at: &usize| {
            let name = self.elements.get(*at).and_then(|element| element.name);
            name.map_or("?", String::as_str).to_owned()
        };
        let mut names: Vec<String> = members.iter().take(20).map(name).collect();
        if members.len() > 20 {
            names.push("...".to_owned());
        }
        names.push(name(&need));
        let message = format!("The decisions require each other in a cycle: {}.", names.join(" -> "));
        if let Some(element) = self.elements.get(need) {
            let place = texts.place(element.id, element.name, At::of(&element.source));
            texts.report(diagnostic::error("requirementCycle", message.clone()), &place);
        }
        let reason: Arc<str> = Arc::from(message);
        for at in members {
            broken.entry(at).or_insert_with(|| reason.clone());
        }
    }

    fn node(
        &self,
        element: &Element<'m>,
        cycle: Option<&Arc<str>>,
        declared: &HashSet<Arc<str>>,
        texts: &mut Texts,
        types: &mut Types<'m>,
    ) -> Node {
        let place = texts.place(element.id, element.name, At::of(&element.source));
        let document = element.document;
        let kind_name = element.variable.and_then(|variable| variable.type_ref.as_ref());
        let kind = types.reference(document, kind_name, &place, texts);
        let mut imports = self.imports(element);
        let mut names: Vec<Arc<str>> = element.requirements.iter().map(|it| it.name.clone()).collect();
        names.extend(imports.iter().map(|import| import.name.clone()));
        let mut compiler = Compiler {
            document,
            declared,
            untyped: self.untyped(element).collect(),
            texts,
            types,
            around: names.len(),
            names,
            used: HashSet::default(),
            outer: HashSet::default(),
            place: place.clone(),
            whole: kind.clone().filter(|_| element.source.is_table()),
        };
        let body = match &element.source {
            Source::Input(_) => Body::Input,
            Source::Decision(decision) => Body::Decision(match cycle {
                Some(reason) => {
                    Logic { kind: Kind::Missing(reason.clone()), result: None, place: place.clone() }
                }
                None => compiler.optional(decision.expression.as_ref(), "the decision"),
            }),
            Source::Function(function) => Self::function(function, kind.clone(), &mut compiler),
            Source::Service(service) => Body::Service(self.service(document, service)),
        };
        let (used, mut outer) = (compiler.used, Vec::from_iter(compiler.outer));
        outer.sort_unstable();
        for name in &outer {
            if declared.contains(name) && !element.requirements.iter().any(|it| it.name == *name) {
                let message = format!("`{name}` is used without being required here.");
                texts.report(diagnostic::warning("requirementNotDeclared", message), &place);
            }
        }
        imports.retain(|import| used.contains(&import.name));
        let whole =
            |name: &Arc<str>| imports.iter().any(|it| it.members.iter().any(|(_, known)| known == name));
        let used = |name: &Arc<str>| used.contains(name) || whole(name);
        let used_node =
            |node: NodeId| element.requirements.iter().any(|it| it.node == node && used(&it.name));
        let needs = if cycle.is_some() { Vec::new() } else { element.needs.clone() };
        let needs = needs.into_iter().filter(|node| used_node(*node)).collect();
        let requirements = element.requirements.iter().filter(|it| used(&it.name)).cloned().collect();
        let name: Arc<str> = Arc::from(element.name.map_or("", |name| name.trim()));
        let namespace = self.documents.get(document).map_or("", |document| document.namespace);
        Node {
            keys: self.keys(element, namespace, &name),
            id: element.id.map(|id| Arc::from(id.as_str())),
            namespace: Arc::from(namespace),
            name,
            kind,
            place,
            body,
            requirements,
            imports,
            needs,
        }
    }

    /// Inputs that the element requires and that have no type.
    fn untyped<'a>(&'a self, element: &'a Element<'m>) -> impl Iterator<Item = Arc<str>> + 'a {
        let untyped = element.requirements.iter().filter(|it| {
            let input = self.element(it.node).filter(|node| matches!(node.source, Source::Input(_)));
            input.is_some_and(|node| node.variable.is_none_or(|own| own.type_ref.is_none()))
        });
        untyped.map(|it| it.name.clone())
    }

    /// Names by which a caller gives an input, or asks for a decision.
    fn keys(&self, element: &Element<'m>, namespace: &str, name: &Arc<str>) -> Vec<Arc<str>> {
        let (document, mut keys) = (element.document, Vec::new());
        if document > 0 && matches!(element.source, Source::Input(_)) {
            keys.push(Arc::from(format!("{namespace}#{name}")));
            let imports = self.documents.first().map(|first| &first.imports);
            let import = imports.and_then(|imports| imports.iter().find(|(_, target)| *target == document));
            keys.extend(import.map(|(prefix, _)| Arc::from(format!("{prefix}.{name}"))));
        }
        keys.push(name.clone());
        keys
    }

    /// The imports of which the element requires something.
    fn imports(&self, element: &Element<'m>) -> Vec<Import> {
        let imports = self.documents.get(element.document).into_iter().flat_map(|document| &document.imports);
        let named = imports.filter(|(name, _)| !name.is_empty()).map(|(name, target)| {
            let mut members: Vec<(Arc<str>, Arc<str>)> = Vec::new();
            let mut known = HashSet::default();
            for requirement in &element.requirements {
                let local =
                    requirement.name.strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix('.'));
                let there = self.element(requirement.node).is_some_and(|it| it.document == *target);
                if let Some(local) = local.filter(|_| there && known.insert(requirement.node)) {
                    members.push((Arc::from(local), requirement.name.clone()));
                }
            }
            Import { name: Arc::from(name.as_str()), members }
        });
        named.filter(|import| !import.members.is_empty()).collect()
    }

    fn function(
        function: &'m BusinessKnowledgeModel,
        result: Option<Arc<plan::ItemType>>,
        compiler: &mut Compiler<'_, 'm>,
    ) -> Body {
        let missing = |reason: Arc<str>, place: Place| {
            let body = Logic { kind: Kind::Missing(reason), result: None, place };
            let parameters = function.encapsulated_logic.iter().flat_map(|logic| &logic.formal_parameters);
            let names: Vec<Arc<str>> =
                parameters.map(|item| Arc::from(item.name.as_deref().unwrap_or_default().trim())).collect();
            let parameters =
                names.iter().map(|name| plan::Parameter { name: name.clone(), kind: None }).collect();
            plan::FunctionLogic { parameters, names, body, result: None, free: Vec::new() }
        };
        let place = compiler.place.clone();
        let Some(logic) = &function.encapsulated_logic else {
            let reason = Arc::from("the business knowledge model has no logic");
            return Body::Function(Arc::new(missing(reason, place)));
        };
        let own = compiler.kind(logic.type_ref.as_ref(), &place);
        let compiled = compiler.function(logic, own.or(result), Vec::new());
        Body::Function(Arc::new(compiled.unwrap_or_else(|reason| missing(reason, place))))
    }

    fn service(&self, document: usize, service: &DecisionService) -> Service {
        let find = |hrefs: &[String]| -> Vec<NodeId> {
            hrefs.iter().filter_map(|href| self.find(document, href)).collect()
        };
        let mut parameters = find(&service.input_data);
        parameters.extend(find(&service.input_decisions));
        let name = |node: &NodeId| {
            let name = self.element(*node).and_then(|element| element.name);
            Arc::from(name.map_or("", |name| name.trim()))
        };
        let names = parameters.iter().map(name).collect();
        Service { names, parameters, outputs: find(&service.output_decisions) }
    }
}

use crate::model::At;

impl At {
    const fn of(source: &Source<'_>) -> Self {
        match source {
            Source::Input(it) => it.at,
            Source::Decision(it) => it.at,
            Source::Function(it) => it.at,
            Source::Service(it) => it.at,
        }
    }
}
