//! Runs and human tasks as the caller sees them.

use heddle_api::wire;
use heddle_bpmn_graph::Graph;
use heddle_cases::CaseState;
use heddle_engine::{ActiveNode, Incident, NodeState, WaitKind, WaitingFor};
use heddle_kernel::{DefinitionKind, RunId, WorkflowId};
use heddle_workflows::plan::human_task;
use heddle_workflows::records::{CalledRun, HumanTask, Run};
use heddle_workflows::runs::{RunView, TaskView};
use serde_json::Value;

use crate::literals::{case_state, run_state, task_state, trigger_kind};

/// Extent of what is shown of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Row of a list: without input and output, which may be large.
    Row,
    /// Run with input and output.
    Whole,
    /// Run with its variables, too.
    Variables,
}

/// A run with its model: tokens that wait at joins are shown too.
pub fn run(view: &RunView, extent: Extent) -> wire::runs::Run {
    bare(&view.run, Some(&view.graph), extent)
}

/// A run after a step.
pub fn bare(run: &Run, graph: Option<&Graph>, extent: Extent) -> wire::runs::Run {
    let state = &run.snapshot;
    let ended = run.state.is_terminal();
    let nodes = if ended {
        Vec::new()
    } else {
        graph.map_or_else(|| state.active_nodes(), |graph| state.view(graph))
    };
    let tasks = if ended { Vec::new() } else { state.tasks() };
    let incidents = if ended { Vec::new() } else { state.incidents() };
    wire::runs::Run {
        id: run.id.to_string(),
        workflow_id: run.workflow.to_string(),
        version: run.version,
        process_id: run.process_id.clone(),
        state: run_state(run.state),
        has_incident: run.has_incident,
        revision: run.revision.0,
        business_key: run.business_key.clone(),
        correlation_key: run.correlation_key.clone(),
        parent_run_id: parent_of(run, DefinitionKind::Workflow),
        root_run_id: run.root().to_string(),
        case_id: run.trigger.parent.as_ref().and_then(|parent| parent.case).map(|case| case.to_string()),
        trigger: wire::runs::RunTrigger {
            kind: trigger_kind(run.trigger.kind),
            name: run.trigger.name.clone(),
            node_id: run.trigger.node_id.clone(),
            event_id: run.trigger.event_id.map(|id| id.to_string()),
        },
        input: (extent != Extent::Row).then(|| run.input.clone()),
        output: (extent != Extent::Row)
            .then(|| state.output().map_or(Value::Null, |output| Value::Object(output.clone()))),
        variables: (extent == Extent::Variables).then(|| state.variables().cloned().unwrap_or_default()),
        error: state.error().map(|error| wire::runs::RunError {
            code: error.code.to_string(),
            message: error.message.clone(),
            node_id: Some(error.node_id.to_string()),
        }),
        incidents: incidents.into_iter().map(|own| incident(own, &nodes)).collect(),
        active_nodes: nodes.into_iter().map(active_node).collect(),
        human_tasks: tasks.into_iter().map(|open| task(&human_task(run, open))).collect(),
        children: None,
        usage: wire::runs::RunUsage { events: i64::try_from(run.last_sequence).unwrap_or(i64::MAX) },
        created_at: run.created_at,
        created_by: run.created_by.map(|user| user.to_string()),
        started_at: state.started_at(),
        updated_at: run.updated_at,
        ended_at: run.ended_at,
    }
}

/// The instance that called another one, where it is of a kind.
pub fn parent_of(called: &Run, kind: DefinitionKind) -> Option<String> {
    let parent = called.trigger.parent.as_ref().filter(|parent| parent.kind() == kind);
    parent.map(|parent| parent.run.to_string())
}

fn active_node(node: ActiveNode) -> wire::runs::ActiveNode {
    wire::runs::ActiveNode {
        node_id: node.node_id.to_string(),
        node_instance_id: node.node_instance_id.map(|id| id.to_string()),
        r#type: node.element.name().to_owned(),
        state: match node.state {
            NodeState::Active => "active".to_owned(),
            NodeState::Failed => "failed".to_owned(),
        },
        since: node.since,
        iteration: None,
        waiting_for: node.waiting_for.map(waiting_for),
    }
}

/// Wait of a node or an item: its kind, and what ends it.
pub fn waiting_for(wait: WaitingFor) -> wire::runs::WaitingFor {
    wire::runs::WaitingFor {
        kind: match wait.kind {
            WaitKind::HumanTask => wire::runs::WaitingKind::HumanTask,
            WaitKind::Timer => wire::runs::WaitingKind::Timer,
            WaitKind::Message => wire::runs::WaitingKind::Message,
            WaitKind::Signal => wire::runs::WaitingKind::Signal,
            WaitKind::Condition => wire::runs::WaitingKind::Condition,
            WaitKind::Job | WaitKind::Call => wire::runs::WaitingKind::Job,
            WaitKind::Incident => wire::runs::WaitingKind::Incident,
            WaitKind::Decision => wire::runs::WaitingKind::Decision,
            // What goes on by itself when its handlers have.
            WaitKind::Compensation => wire::runs::WaitingKind::Job,
            WaitKind::Join => wire::runs::WaitingKind::Join,
        },
        name: wait.name,
        correlation_key: wait.correlation_key,
        due_at: wait.due_at,
        task_id: wait.task_id.map(|id| id.to_string()),
        attempt: Some(i64::from(wait.attempt)),
        options: wait.options,
    }
}

/// A run or a case that a run called.
pub fn child(of: CalledRun) -> wire::runs::RunChild {
    let definition = Some(of.workflow.to_string());
    let (workflow_id, case_type_id) = match of.kind {
        DefinitionKind::Workflow => (definition, None),
        DefinitionKind::Case => (None, definition),
    };
    wire::runs::RunChild {
        id: of.id.to_string(),
        workflow_id,
        case_type_id,
        node_id: of.node_id,
        state: run_state(of.state),
    }
}

/// An incident; what can be decided is what the node tells that it stopped, if it stopped one.
pub fn incident(incident: Incident, nodes: &[ActiveNode]) -> wire::runs::Incident {
    let mut waits = nodes.iter().filter_map(|node| node.waiting_for.as_ref());
    let told = waits.find(|wait| wait.incident_id == Some(incident.id)).map(|wait| wait.options.clone());
    let code = serde_json::to_value(incident.code).ok().and_then(|code| code.as_str().map(str::to_owned));
    wire::runs::Incident {
        id: incident.id.to_string(),
        node_id: incident.node_id.map(|id| id.to_string()).unwrap_or_default(),
        node_instance_id: incident.node_instance_id.map(|id| id.to_string()),
        code: code.unwrap_or_default(),
        message: incident.message,
        attempts: i64::from(incident.attempt),
        raised_at: incident.raised_at,
        options: told.unwrap_or(incident.options),
    }
}

/// Instance and definition of a thing, each under the name of its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whose {
    /// The run.
    pub run_id: Option<String>,
    /// The workflow.
    pub workflow_id: Option<String>,
    /// The case.
    pub case_id: Option<String>,
    /// The case type.
    pub case_type_id: Option<String>,
}

/// The names of an instance and its definition by their kind.
pub fn whose(kind: DefinitionKind, instance: Option<RunId>, definition: Option<WorkflowId>) -> Whose {
    let (own, of) = (instance.map(|id| id.to_string()), definition.map(|id| id.to_string()));
    match kind {
        DefinitionKind::Workflow => Whose { run_id: own, workflow_id: of, case_id: None, case_type_id: None },
        DefinitionKind::Case => Whose { run_id: None, workflow_id: None, case_id: own, case_type_id: of },
    }
}

/// A human task.
pub fn task(task: &HumanTask) -> wire::tasks::HumanTask {
    let Whose { run_id, workflow_id, case_id, case_type_id } =
        whose(task.instance_kind, Some(task.run), Some(task.workflow));
    wire::tasks::HumanTask {
        id: task.id.to_string(),
        run_id,
        workflow_id,
        case_id,
        case_type_id,
        node_id: task.node_id.clone(),
        node_instance_id: task.node_instance_id.clone(),
        name: task.name.clone(),
        state: task_state(task.state),
        assignee: task.assignee.clone(),
        candidate_users: task.candidate_users.clone(),
        candidate_groups: task.candidate_groups.clone(),
        due_at: task.due_at,
        follow_up_at: task.follow_up_at,
        priority: task.priority,
        form: task.form.clone().unwrap_or(Value::Null),
        outcomes: task.outcomes.clone(),
        created_at: task.created_at,
        ended_at: task.ended_at,
        completed_by: task.completed_by.map(|user| user.to_string()),
    }
}

/// A human task with what whoever works on it needs to know.
pub fn task_detail(view: &TaskView) -> wire::tasks::HumanTaskDetail {
    let (own, run) = (task(&view.task), &view.run);
    let of_case = run.kind == DefinitionKind::Case;
    let definition = wire::tasks::TaskWorkflow {
        id: view.workflow.id.to_string(),
        slug: view.workflow.slug.clone(),
        display_name: view.workflow.display_name.clone(),
        version: run.version,
    };
    let (workflow, case_type) = if of_case { (None, Some(definition)) } else { (Some(definition), None) };
    wire::tasks::HumanTaskDetail {
        id: own.id,
        run_id: own.run_id,
        workflow_id: own.workflow_id,
        case_id: own.case_id,
        case_type_id: own.case_type_id,
        node_id: own.node_id,
        node_instance_id: own.node_instance_id,
        name: own.name,
        state: own.state,
        assignee: own.assignee,
        candidate_users: own.candidate_users,
        candidate_groups: own.candidate_groups,
        due_at: own.due_at,
        follow_up_at: own.follow_up_at,
        priority: own.priority,
        form: own.form,
        outcomes: own.outcomes,
        created_at: own.created_at,
        ended_at: own.ended_at,
        completed_by: own.completed_by,
        workflow,
        case_type,
        run: (!of_case).then(|| wire::tasks::TaskRun {
            id: run.id.to_string(),
            process_id: run.process_id.clone(),
            state: run_state(run.state),
            business_key: run.business_key.clone(),
            correlation_key: run.correlation_key.clone(),
        }),
        case: of_case.then(|| wire::tasks::TaskCase {
            id: run.id.to_string(),
            definition_id: run.process_id.clone(),
            state: case_state(CaseState::of(run)),
            business_key: run.business_key.clone(),
            correlation_key: run.correlation_key.clone(),
        }),
        variables: view.variables.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use heddle_api::wire::runs::RunEventType;
    use heddle_engine::EventKind;
    use serde_json::json;

    #[test]
    fn every_type_of_an_event_that_the_engine_gives_can_be_asked_for() {
        // Who reads a type that there is not tells of all that there are.
        let told = serde_json::from_value::<EventKind>(json!({ "type": "none", "data": {} })).unwrap_err();
        let told = told.to_string();
        let given: BTreeSet<&str> = told.split('`').skip(3).step_by(2).collect();
        assert!(given.contains("run.started"), "{told}");
        let asked: BTreeSet<&str> = RunEventType::ALL.iter().map(|one| one.as_str()).collect();
        assert_eq!(given, asked);
    }
}
