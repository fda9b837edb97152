//! Evaluation of decisions and decision services.

mod check;
mod log;
mod logic;
mod table;

use std::sync::Arc;

use heddle_feel::{
    Context, EvalContext, Function, Host, HostFunction, LimitError, Limits, Ref, Scope, Signature,
    StepBudget, Type, Value,
};
use heddle_kernel::Timestamp;

use self::check::{given, returned, typed};
pub use self::log::{DecisionExplanation, Explanation, Reason, TableExplanation, TableHit, TableInput};
use self::log::{Log, explains, json, note, text};
use crate::compile::Model;
use crate::compile::plan::{
    Body, FunctionLogic, Import, ItemType, Kind, Logic, Node, NodeId, Place, Plan, Service,
};

/// Options of an evaluation.
#[derive(Debug, Clone)]
pub struct EvalOptions {
    /// The present time.
    pub now: Timestamp,
    /// Bounds of the whole evaluation.
    pub limits: Limits,
    /// Whether to tell how results came about.
    pub explain: bool,
}

impl EvalOptions {
    /// The default limits, without an explanation.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self { now, limits: Limits::default(), explain: false }
    }
}

/// A decision, business knowledge model or decision service of a compiled model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ElementRef(NodeId);

/// Kind of element that a reference means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementKind {
    /// Input data.
    InputData,
    /// A decision.
    Decision,
    /// A business knowledge model.
    BusinessKnowledgeModel,
    /// A decision service.
    DecisionService,
}

/// The result of an evaluation.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The value; null when it has none, for one of the reasons.
    pub value: Value,
    /// Reasons why parts were null.
    pub reasons: Vec<Reason>,
    /// Explanation of the result, when one was asked for.
    pub explanation: Option<Explanation>,
}

/// Input from outside that is not of the type that the model declares for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// Name under which it was given.
    pub name: String,
    /// The reason as a sentence without its end point.
    pub message: String,
}

/// Error of an evaluation that gives no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvaluateError {
    /// No decision or decision service has that name or id.
    #[error("the model has no decision or decision service {0:?}")]
    Unknown(String),
    /// A limit was exceeded.
    #[error(transparent)]
    Limit(#[from] LimitError),
}

impl Model {
    /// The element of that id or name; decisions and services come before others of the same name, and the first
    /// document's before those of imports.
    #[must_use]
    pub fn find(&self, name_or_id: &str) -> Option<ElementRef> {
        let plan = &*self.0;
        let named = plan.by_id.get(name_or_id).or_else(|| plan.by_name.get(name_or_id))?;
        let callable = |node: &&NodeId| {
            plan.node(**node).is_some_and(|node| matches!(node.body, Body::Decision(_) | Body::Service(_)))
        };
        named.iter().find(callable).or_else(|| named.first()).map(|node| ElementRef(*node))
    }

    /// The element of that kind and name or id, in that namespace when one is given.
    #[must_use]
    pub fn find_in(
        &self,
        kind: ElementKind,
        name_or_id: &str,
        namespace: Option<&str>,
    ) -> Option<ElementRef> {
        let plan = &*self.0;
        let ids = plan.by_id.get(name_or_id).into_iter().flatten();
        let mut all = plan.by_name.get(name_or_id).into_iter().flatten().chain(ids);
        let of = |node: &&NodeId| {
            plan.node(**node).is_some_and(|it| {
                it.element_kind() == kind && namespace.is_none_or(|namespace| *it.namespace == *namespace)
            })
        };
        all.find(of).map(|node| ElementRef(*node))
    }

    /// The kind of the element.
    #[must_use]
    pub fn kind(&self, element: ElementRef) -> Option<ElementKind> {
        self.0.node(element.0).map(Node::element_kind)
    }

    /// The type declared for an element's variable.
    #[cfg(feature = "tck")]
    pub(crate) fn input_type(&self, element: ElementRef) -> Option<&Type> {
        self.0.node(element.0)?.kind.as_ref().map(|kind| &kind.feel)
    }

    /// The name of the element, which is that of its variable.
    #[must_use]
    pub fn name(&self, element: ElementRef) -> &str {
        self.0.node(element.0).map_or("", |node| &node.name)
    }

    /// The id of the element, where it has one.
    #[must_use]
    pub fn id(&self, element: ElementRef) -> Option<&str> {
        self.0.node(element.0).and_then(|node| node.id.as_deref())
    }

    /// The name of a single result of the element: that of the only output of its table, where it has one, else its own.
    #[must_use]
    pub fn output_name(&self, element: ElementRef) -> &str {
        let table = match self.0.node(element.0).map(|node| &node.body) {
            Some(Body::Decision(Logic { kind: Kind::Table(table), .. })) => Some(table),
            _ => None,
        };
        let named = table.and_then(|table| match table.outputs.as_slice() {
            [only] => only.name.as_deref().filter(|name| !name.is_empty()),
            _ => None,
        });
        named.unwrap_or_else(|| self.name(element))
    }

    /// Whether the element is a decision service with several outputs, whose result is a context of them.
    #[must_use]
    pub fn has_outputs(&self, element: ElementRef) -> bool {
        match self.0.node(element.0).map(|node| &node.body) {
            Some(Body::Service(service)) => service.outputs.len() > 1,
            _ => false,
        }
    }

    /// The elements with their kinds, names and ids, in the order of the documents.
    pub fn elements(&self) -> impl Iterator<Item = (ElementRef, ElementKind, &str, Option<&str>)> {
        self.0.nodes.iter().enumerate().map(|(at, node)| {
            let element = ElementRef(NodeId::try_from(at).unwrap_or(NodeId::MAX));
            (element, node.element_kind(), &*node.name, node.id.as_deref())
        })
    }

    /// Evaluates the decision or decision service of that name or id; inputs are taken from the context by name.
    ///
    /// # Errors
    /// When there is no such element, or a limit is exceeded; anything else that goes wrong is null for a reason.
    pub fn evaluate(
        &self,
        name_or_id: &str,
        input: &dyn Scope,
        options: &EvalOptions,
    ) -> Result<Outcome, EvaluateError> {
        let element = self.find(name_or_id).ok_or_else(|| EvaluateError::Unknown(name_or_id.to_owned()))?;
        self.evaluate_element(element, input, options).map_err(EvaluateError::from)
    }

    /// Evaluates an element found before.
    ///
    /// # Errors
    /// When a limit is exceeded.
    pub fn evaluate_element(
        &self,
        element: ElementRef,
        input: &dyn Scope,
        options: &EvalOptions,
    ) -> Result<Outcome, LimitError> {
        self.run(input, options, &mut 0, |frame, host| frame.element(element.0, host))
    }

    /// Evaluates an element found before, within a budget that other evaluations share.
    ///
    /// # Errors
    /// When a limit or the budget is exceeded.
    pub fn evaluate_on(
        &self,
        element: ElementRef,
        input: &dyn Scope,
        options: &EvalOptions,
        budget: &StepBudget,
    ) -> Result<Outcome, LimitError> {
        budget.within(&options.limits, |limits, taken| {
            let options = EvalOptions { limits: limits.clone(), ..*options };
            self.run(input, &options, taken, |frame, host| frame.element(element.0, host))
        })
    }

    /// Evaluates several elements at once; what they share is evaluated once. The value is a context by name.
    ///
    /// # Errors
    /// When a limit is exceeded.
    pub fn evaluate_all(
        &self,
        elements: &[ElementRef],
        input: &dyn Scope,
        options: &EvalOptions,
    ) -> Result<Outcome, LimitError> {
        self.run(input, options, &mut 0, |frame, host| {
            let mut context = Context::new();
            for element in elements {
                let value = frame.element(element.0, host)?;
                if let Some(node) = frame.plan.node(element.0) {
                    context.put(node.name.clone(), value);
                }
            }
            host.admit(Value::context(context))
        })
    }

    /// The inputs given for an element that are not of their declared types: an evaluation takes each of them as null
    /// (DMN 1.5, 10.3.2.9.4).
    ///
    /// # Errors
    /// When a limit is exceeded.
    pub fn misfits(
        &self,
        element: ElementRef,
        input: &dyn Scope,
        options: &EvalOptions,
    ) -> Result<Vec<Misfit>, LimitError> {
        let mut found = Vec::new();
        self.run(input, options, &mut 0, |frame, host| {
            found = frame.misfits(element.0, host)?;
            Ok(Value::Null)
        })?;
        Ok(found)
    }

    fn run(
        &self,
        input: &dyn Scope,
        options: &EvalOptions,
        taken: &mut u64,
        body: impl FnOnce(&mut Frame<'_>, &mut Host<'_>) -> Result<Value, LimitError>,
    ) -> Result<Outcome, LimitError> {
        let log = Log { explain: options.explain, ..Log::default() };
        let ctx = EvalContext { now: options.now };
        Host::open(&ctx, &options.limits, Box::new(log), |host| {
            let mut frame = Frame::new(&self.0, input, true);
            let value = body(&mut frame, host);
            *taken = host.taken();
            let value = value?;
            let log = host.extension::<Log>().map(std::mem::take).unwrap_or_default();
            let explanation = options.explain.then_some(Explanation { decisions: log.decisions });
            Ok(Outcome { value, reasons: log.reasons, explanation })
        })
    }
}

impl Node {
    const fn element_kind(&self) -> ElementKind {
        match self.body {
            Body::Input => ElementKind::InputData,
            Body::Decision(_) => ElementKind::Decision,
            Body::Function(_) => ElementKind::BusinessKnowledgeModel,
            Body::Service(_) => ElementKind::DecisionService,
        }
    }
}

/// One evaluation of the graph: of the whole, or of a decision service called within it.
struct Frame<'e> {
    plan: &'e Arc<Plan>,
    input: &'e dyn Scope,
    /// Values of decisions and inputs, as far as they are known.
    slots: Vec<Option<Value>>,
}

/// Scope of an element's logic: the names that it can use.
struct NodeScope<'s> {
    frame: &'s Frame<'s>,
    node: &'s Node,
}

impl Import {
    /// Required elements of the imported model as a context, by their names there.
    fn context(&self, scope: &dyn Scope) -> Value {
        let member = |(local, qualified): &(Arc<str>, Arc<str>)| {
            (local.clone(), scope.get(qualified).map_or(Value::Null, Ref::into_value))
        };
        Value::context(Context::from_iter(self.members.iter().map(member)))
    }
}

impl Scope for NodeScope<'_> {
    fn get<'a>(&'a self, name: &str) -> Option<Ref<'a>> {
        let plan = self.frame.plan;
        for requirement in &self.node.requirements {
            if *requirement.name != *name {
                continue;
            }
            if let Some(Some(value)) = self.frame.slots.get(requirement.node as usize) {
                return Some(Ref::Borrowed(value));
            }
            let node = plan.node(requirement.node)?;
            return match &node.body {
                Body::Input => self.frame.given(node),
                Body::Decision(_) => None,
                Body::Function(_) | Body::Service(_) => {
                    function(plan, requirement.node, node).map(Ref::Owned)
                }
            };
        }
        if let Some(import) = self.node.imports.iter().find(|import| *import.name == *name) {
            return Some(Ref::Owned(import.context(self)));
        }
        // What is no element of the model is taken from the context as it is.
        if plan.declared.contains(name) { None } else { self.frame.input.get(name) }
    }
}

impl<'e> Frame<'e> {
    fn new(plan: &'e Arc<Plan>, input: &'e dyn Scope, _root: bool) -> Self {
        Self { plan, input, slots: vec![None; plan.nodes.len()] }
    }

    /// The value given for an input.
    fn given(&self, node: &Node) -> Option<Ref<'_>> {
        node.keys.iter().find_map(|key| self.input.get(key))
    }

    fn is_known(&self, id: NodeId) -> bool {
        matches!(self.slots.get(id as usize), Some(Some(_)))
    }

    fn keep(&mut self, id: NodeId, value: Value) {
        if let Some(slot) = self.slots.get_mut(id as usize) {
            *slot = Some(value);
        }
    }

    fn value(&self, id: NodeId) -> Value {
        self.slots.get(id as usize).cloned().flatten().unwrap_or_default()
    }

    /// The value of an element asked for from outside.
    fn element(&mut self, id: NodeId, host: &mut Host<'_>) -> Result<Value, LimitError> {
        let plan = self.plan;
        let Some(node) = plan.node(id) else { return Ok(Value::Null) };
        match &node.body {
            Body::Input => {
                self.read(id, node, host)?;
                Ok(match self.slots.get(id as usize) {
                    Some(Some(value)) => value.clone(),
                    _ => self.given(node).map(Ref::into_value).unwrap_or_default(),
                })
            }
            Body::Decision(_) => {
                self.decide(id, host)?;
                Ok(self.value(id))
            }
            Body::Function(logic) => {
                let arguments =
                    logic.names.iter().map(|name| self.input.get(name).map_or(Value::Null, Ref::into_value));
                let arguments = arguments.collect();
                NodeFunction { plan: plan.clone(), id }.call(arguments, host)
            }
            Body::Service(service) => {
                let mut arguments = Vec::with_capacity(service.parameters.len());
                for parameter in &service.parameters {
                    let given = plan.node(*parameter).and_then(|node| {
                        let value = self.given(node)?;
                        Some(match &node.kind {
                            Some(kind) => given(value, kind),
                            None => value.into_value(),
                        })
                    });
                    arguments.push(given.unwrap_or_default());
                }
                let mut inner = Frame::new(plan, self.input, false);
                inner.serve(node, service, arguments, host)
            }
        }
    }

    /// Reads an input whose type asks for it; others stay where they are.
    fn read(&mut self, id: NodeId, node: &Node, host: &mut Host<'_>) -> Result<(), LimitError> {
        if let Some(kind) = &node.kind
            && let Some(value) = self.given(node)
        {
            let is_json = matches!(value, Ref::Json(_));
            let value = given(value, kind);
            if is_json {
                host.charge(u64::from(value.weight()))?;
            }
            let value = typed(value, Some(kind), &node.place, host)?;
            self.keep(id, value);
        }
        Ok(())
    }

    /// The given inputs among what an element needs, or among the parameters of a service, that are not of their types.
    fn misfits(&self, id: NodeId, host: &mut Host<'_>) -> Result<Vec<Misfit>, LimitError> {
        let plan = self.plan;
        let mut seen = vec![false; plan.nodes.len()];
        let service = match plan.node(id).map(|node| &node.body) {
            Some(Body::Service(service)) => Some(service),
            Some(Body::Input | Body::Decision(_) | Body::Function(_)) | None => None,
        };
        let mut open = service.map_or_else(|| vec![id], |service| service.parameters.clone());
        let mut found = Vec::new();
        while let Some(at) = open.pop() {
            let (Some(node), Some(known)) = (plan.node(at), seen.get_mut(at as usize)) else { continue };
            if std::mem::replace(known, true) {
                continue;
            }
            host.charge(1)?;
            // A service's parameters may be decisions, whose values are given like inputs.
            if service.is_none() && !matches!(node.body, Body::Input) {
                open.extend(&node.needs);
                continue;
            }
            let given = node.keys.iter().find_map(|key| Some((key, self.input.get(key)?)));
            if let (Some(kind), Some((name, value))) = (&node.kind, given) {
                let message = misfit(value, kind, &node.place, host)?;
                found.extend(message.map(|message| Misfit { name: name.to_string(), message }));
            }
        }
        Ok(found)
    }

    /// Evaluates a decision, after those that it requires. The way down is a list and no recursion, since chains of
    /// decisions can be long.
    fn decide(&mut self, id: NodeId, host: &mut Host<'_>) -> Result<(), LimitError> {
        let plan = self.plan;
        let mut path: Vec<(NodeId, usize)> = Vec::new();
        let mut next = Some(id);
        loop {
            if let Some(at) = next.take() {
                if self.is_known(at) {
                    continue;
                }
                let Some(node) = plan.node(at) else { return Ok(()) };
                if matches!(node.body, Body::Decision(_)) {
                    host.charge(1)?;
                    path.push((at, 0));
                } else {
                    self.read(at, node, host)?;
                }
            }
            let Some((at, done)) = path.last_mut() else { return Ok(()) };
            let (at, node) = (*at, plan.node(*at));
            let Some(node) = node else { return Ok(()) };
            if let Some(need) = node.needs.get(*done) {
                *done += 1;
                next = Some(*need);
                continue;
            }
            path.pop();
            let value = self.decision(node, host)?;
            self.keep(at, value);
        }
    }

    fn decision(&self, node: &Node, host: &mut Host<'_>) -> Result<Value, LimitError> {
        let Body::Decision(it) = &node.body else { return Ok(Value::Null) };
        let scope = NodeScope { frame: self, node };
        let explain = explains(host);
        let tables =
            if explain { host.extension::<Log>().map(|log| std::mem::take(&mut log.tables)) } else { None };
        let value = logic::logic(it, &scope, host)?;
        let value = typed(value, node.kind.as_deref(), &node.place, host)?;
        if !explain {
            return Ok(value);
        }
        let mut inputs = serde_json::Map::new();
        for requirement in &node.requirements {
            if let Some(value) = scope.get(&requirement.name) {
                let value = value.into_value();
                if !matches!(value, Value::Function(_)) {
                    inputs.insert(requirement.name.to_string(), json(&value, host));
                }
            }
        }
        let output = json(&value, host);
        if let Some(log) = host.extension::<Log>() {
            let own = std::mem::replace(&mut log.tables, tables.unwrap_or_default());
            log.decision(DecisionExplanation {
                id: text(node.id.as_ref()),
                name: node.name.to_string(),
                inputs,
                output,
                tables: own,
            });
        }
        Ok(value)
    }

    /// Evaluates a decision service (DMN 1.5, 10.4) with arguments for its inputs.
    fn serve(
        &mut self,
        node: &Node,
        service: &Service,
        arguments: Vec<Value>,
        host: &mut Host<'_>,
    ) -> Result<Value, LimitError> {
        let plan = self.plan;
        for (id, argument) in service.parameters.iter().zip(arguments) {
            let kind = plan.node(*id).and_then(|node| node.kind.clone());
            let given = !argument.is_null();
            let value = typed(argument, kind.as_deref(), &node.place, host)?;
            if given && value.is_null() {
                let name = plan.node(*id).map_or("", |node| &*node.name);
                note(host, &node.place, format!("the argument `{name}` is not of the parameter's type"));
                return Ok(Value::Null);
            }
            self.keep(*id, value);
        }
        for output in &service.outputs {
            self.decide(*output, host)?;
        }
        let value = match service.outputs.as_slice() {
            [only] => self.value(*only),
            outputs => {
                let mut context = Context::new();
                for output in outputs {
                    if let Some(node) = plan.node(*output) {
                        context.put(node.name.clone(), self.value(*output));
                    }
                }
                Value::context(context)
            }
        };
        let Some(kind) = node.kind.as_deref() else { return Ok(value) };
        // A service's variable may tell the type of the function, or that of its result.
        let Type::Function(signature) = &kind.feel else {
            return typed(value, Some(kind), &node.place, host);
        };
        match signature {
            Some((_, result)) => returned(value, result, kind, &node.place, host),
            None => Ok(value),
        }
    }
}

/// The reason for which a value from outside is not of a type; none for one that is, or for null.
fn misfit(
    value: Ref<'_>,
    kind: &ItemType,
    place: &Place,
    host: &mut Host<'_>,
) -> Result<Option<String>, LimitError> {
    let value = given(value, kind);
    if value.is_null() {
        return Ok(None);
    }
    host.charge(u64::from(value.weight()))?;
    // The list of reasons is bounded: each value begins with an empty one.
    let _ = host.extension::<Log>().map(|log| std::mem::take(&mut log.reasons));
    if !typed(value, Some(kind), place, host)?.is_null() {
        return Ok(None);
    }
    let reasons = host.extension::<Log>().map(|log| std::mem::take(&mut log.reasons)).unwrap_or_default();
    let told = reasons.into_iter().next_back().map(|reason| reason.message);
    Ok(Some(told.unwrap_or_else(|| format!("the value is not of the type `{}`", kind.name))))
}

/// A business knowledge model or decision service as a function.
struct NodeFunction {
    plan: Arc<Plan>,
    id: NodeId,
}

fn function(plan: &Arc<Plan>, id: NodeId, node: &Node) -> Option<Value> {
    matches!(node.body, Body::Function(_) | Body::Service(_))
        .then(|| Value::Function(Function::host(Arc::new(NodeFunction { plan: plan.clone(), id }))))
}

impl HostFunction for NodeFunction {
    fn parameters(&self) -> &[Arc<str>] {
        match self.plan.node(self.id).map(|node| &node.body) {
            Some(Body::Function(logic)) => &logic.names,
            Some(Body::Service(service)) => &service.names,
            _ => &[],
        }
    }

    fn signature(&self) -> Option<Signature> {
        let kind = |node: &Node| node.kind.as_ref().map_or(Type::Any, |kind| kind.feel.clone());
        let node = self.plan.node(self.id)?;
        match &node.body {
            Body::Function(logic) => Some(logic::signature(logic)),
            Body::Service(service) => {
                let of = |id: &NodeId| self.plan.node(*id).map_or(Type::Any, kind);
                let result = match (kind(node), service.outputs.as_slice()) {
                    (Type::Any | Type::Function(_), [only]) => of(only),
                    (Type::Any | Type::Function(_), _) => Type::Any,
                    (declared, _) => declared,
                };
                Some((service.parameters.iter().map(of).collect(), Box::new(result)))
            }
            Body::Input | Body::Decision(_) => None,
        }
    }

    fn call(&self, arguments: Vec<Value>, host: &mut Host<'_>) -> Result<Value, LimitError> {
        let Some(node) = self.plan.node(self.id) else { return Ok(Value::Null) };
        host.nested(4, |host| match &node.body {
            Body::Function(logic) => self.apply(node, logic, arguments, host),
            Body::Service(service) => {
                let mut frame = Frame::new(&self.plan, &(), false);
                frame.serve(node, service, arguments, host)
            }
            Body::Input | Body::Decision(_) => Ok(Value::Null),
        })
    }
}

impl NodeFunction {
    fn apply(
        &self,
        node: &Node,
        logic: &FunctionLogic,
        arguments: Vec<Value>,
        host: &mut Host<'_>,
    ) -> Result<Value, LimitError> {
        let around = FunctionScope { plan: &self.plan, node };
        logic::call(logic, arguments, &around, &node.place, host)
    }
}

/// Scope of a business knowledge model besides its parameters: the functions that it requires.
struct FunctionScope<'s> {
    plan: &'s Arc<Plan>,
    node: &'s Node,
}

impl Scope for FunctionScope<'_> {
    fn get<'a>(&'a self, name: &str) -> Option<Ref<'a>> {
        if let Some(import) = self.node.imports.iter().find(|import| *import.name == *name) {
            return Some(Ref::Owned(import.context(self)));
        }
        let requirement = self.node.requirements.iter().find(|it| *it.name == *name)?;
        let node = self.plan.node(requirement.node)?;
        function(self.plan, requirement.node, node).map(Ref::Owned)
    }
}
