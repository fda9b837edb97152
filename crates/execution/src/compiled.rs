//! Compiled versions: what the engine runs, of either kind, shared by all instances of a version.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use heddle_bpmn_graph::{Graph, ROOT};
use heddle_cmmn::plan::CasePlan;
pub use heddle_dmn::Model as Decisions;
use heddle_engine::{Model, Trigger};
use heddle_kernel::DefinitionKind;

use crate::UseCaseError;
use crate::schema::Checker;

/// The compiled model that one instance follows.
#[derive(Debug, Clone)]
pub enum Plan {
    /// Process of a run.
    Process(Arc<Graph>),
    /// Case plan of a case.
    Case(Arc<CasePlan>),
}

impl Plan {
    /// Id of the process or the case within the definition.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Process(graph) => &graph.id,
            Self::Case(plan) => &plan.id,
        }
    }

    /// The model as the engine takes it.
    #[must_use]
    pub fn model(&self) -> Model<'_> {
        match self {
            Self::Process(graph) => Model::Process(graph),
            Self::Case(plan) => Model::Case(plan),
        }
    }

    /// The process; none for a case.
    #[must_use]
    pub const fn process(&self) -> Option<&Arc<Graph>> {
        match self {
            Self::Process(graph) => Some(graph),
            Self::Case(_) => None,
        }
    }

    /// The case plan; none for a process.
    #[must_use]
    pub const fn case(&self) -> Option<&Arc<CasePlan>> {
        match self {
            Self::Process(_) => None,
            Self::Case(plan) => Some(plan),
        }
    }

    /// Names of the data stores of the organisation that it uses.
    #[must_use]
    pub fn stores(&self) -> Vec<String> {
        match self {
            Self::Process(graph) => graph.stores().iter().map(|own| own.name.to_string()).collect(),
            Self::Case(_) => Vec::new(),
        }
    }
}

/// Schemas of the input by process id: start event and schema.
pub type InputSchemas = HashMap<String, Vec<(String, Checker)>>;

/// Parts of one version that can be started.
#[derive(Debug)]
pub struct CompiledVersion {
    /// The startable processes.
    pub processes: Vec<Arc<Graph>>,
    /// The global tasks, each as a process of one task, which only a call starts.
    pub global_tasks: Vec<Arc<Graph>>,
    /// The startable cases.
    pub cases: Vec<Arc<CasePlan>>,
    /// The one that a start without a name means.
    pub primary: Option<String>,
    /// The decisions that business rule tasks and decision tasks evaluate.
    pub decisions: Option<Decisions>,
    kind: DefinitionKind,
    input_schemas: InputSchemas,
    /// Whether a step of it was too large to be done where it was asked for.
    large: AtomicBool,
}

impl CompiledVersion {
    /// A version of a workflow.
    #[must_use]
    pub fn of_processes(
        processes: Vec<Arc<Graph>>,
        global_tasks: Vec<Arc<Graph>>,
        primary: Option<String>,
        decisions: Option<Decisions>,
        input_schemas: InputSchemas,
    ) -> Self {
        let (cases, large) = (Vec::new(), AtomicBool::new(false));
        let kind = DefinitionKind::Workflow;
        Self { processes, global_tasks, cases, primary, decisions, kind, input_schemas, large }
    }

    /// A version of a case type.
    #[must_use]
    pub fn of_cases(
        cases: Vec<Arc<CasePlan>>,
        primary: Option<String>,
        decisions: Option<Decisions>,
    ) -> Self {
        Self {
            processes: Vec::new(),
            global_tasks: Vec::new(),
            cases,
            primary,
            decisions,
            kind: DefinitionKind::Case,
            input_schemas: HashMap::new(),
            large: AtomicBool::new(false),
        }
    }

    /// Kind of the definition.
    #[must_use]
    pub const fn kind(&self) -> DefinitionKind {
        self.kind
    }

    /// Whether a step of it was found to be large.
    pub(crate) fn is_large(&self) -> bool {
        self.large.load(Ordering::Relaxed)
    }

    /// Remembers that a step of it was large.
    pub(crate) fn found_large(&self) {
        self.large.store(true, Ordering::Relaxed);
    }

    /// The process or global task with this id.
    #[must_use]
    pub fn process(&self, id: &str) -> Option<&Arc<Graph>> {
        self.processes.iter().chain(&self.global_tasks).find(|process| &*process.id == id)
    }

    /// The process, global task or case with this id.
    #[must_use]
    pub fn plan(&self, id: &str) -> Option<Plan> {
        match self.process(id) {
            Some(graph) => Some(Plan::Process(Arc::clone(graph))),
            None => self.cases.iter().find(|case| &*case.id == id).map(|case| Plan::Case(Arc::clone(case))),
        }
    }

    /// The schema of the input of a start: `configuration.inputSchema` of the start event at which it begins. A case has
    /// none.
    #[must_use]
    pub fn input_schema(&self, plan: &Plan, trigger: &Trigger) -> Option<&Checker> {
        let process = plan.process()?;
        let schemas = self.input_schemas.get(&*process.id)?;
        let of = |id: &str| schemas.iter().find(|(node, _)| node == id).map(|(_, schema)| schema);
        match trigger {
            Trigger::Manual { start_node: None } => {
                process.scope(ROOT).starts.iter().find_map(|start| of(&process.node(*start).id))
            }
            Trigger::Manual { start_node: Some(id) }
            | Trigger::Message { node_id: id, .. }
            | Trigger::Timer { node_id: id }
            | Trigger::Signal { node_id: id, .. } => of(id),
        }
    }

    /// The process or case that a start means: the named one, else the primary one, else the only one.
    ///
    /// # Errors
    /// `Invalid` at `processId`, or `definitionId` of a case, when there is none such or the choice is open.
    pub fn startable(&self, id: Option<&str>) -> Result<Plan, UseCaseError> {
        let (what, several_of, field, unknown) = match self.kind {
            DefinitionKind::Workflow => ("process", "processes", "processId", "unknownProcess"),
            DefinitionKind::Case => ("case", "cases", "definitionId", "unknownCase"),
        };
        let processes = self.processes.iter().map(|graph| Plan::Process(Arc::clone(graph)));
        let cases = self.cases.iter().map(|case| Plan::Case(Arc::clone(case)));
        let all: Vec<Plan> = processes.chain(cases).collect();
        let wanted = id.or(self.primary.as_deref());
        match (wanted, all.as_slice()) {
            (Some(id), _) => all.iter().find(|plan| plan.id() == id).cloned().ok_or_else(|| {
                let message = format!("The version has no executable {what} `{id}`.");
                UseCaseError::invalid(field, unknown, message)
            }),
            (None, [only]) => Ok(only.clone()),
            (None, several) => {
                let ids: Vec<_> = several.iter().map(|plan| format!("`{}`", plan.id())).collect();
                let message = format!("Name one of the version's {several_of}: {}.", ids.join(", "));
                Err(UseCaseError::invalid(field, "required", message))
            }
        }
    }
}
