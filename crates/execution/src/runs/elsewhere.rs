//! Decisions of published workflows that tasks of cases evaluate: a case type has none of its own.

use std::collections::BTreeMap;

use heddle_engine::{DecisionElsewhere, RunContext};
use heddle_kernel::{DefinitionKind, TenantId, WorkflowId};
use heddle_usecase::StoreError;

use super::Runs;
use super::evaluate::{callable, wanted};
use crate::UseCaseError;
use crate::compiled::{CompiledVersion, Decisions};
use crate::ports::{Standing, decision_name};

/// Most decisions that one step looks for elsewhere.
const MOST: usize = 100;

/// Place of a decision: a workflow, and the name of the decision where it is the decision's own name that led there.
struct Place {
    workflow: WorkflowId,
    is_named: bool,
}

impl Runs {
    /// Looks up a decision that a step asks for, and puts what is found into the step's context.
    pub(super) async fn look_up(
        &self,
        tenant: TenantId,
        context: &mut RunContext,
        name: String,
    ) -> Result<(), UseCaseError> {
        let known = context.elsewhere.get_or_insert_with(BTreeMap::new);
        if known.len() >= MOST {
            let message = format!("One step asks for more than {MOST} decisions.");
            return Err(UseCaseError::Invalid(vec![crate::Problem::new("limitExceeded", message)]));
        }
        let found = self.decision_elsewhere(tenant, &name).await?;
        known.insert(name, found);
        Ok(())
    }

    /// The decision that a name means: of the published workflow that alone has one of this id or name, else the one of the
    /// workflow with this id or slug, as it is active now; or the reason why there is none.
    async fn decision_elsewhere(
        &self,
        tenant: TenantId,
        name: &str,
    ) -> Result<Result<DecisionElsewhere, String>, UseCaseError> {
        let Place { workflow, is_named } = match self.place_of(tenant, name).await? {
            Ok(place) => place,
            Err(reason) => return Ok(Err(reason)),
        };
        let versions = self.ports.versions.of(DefinitionKind::Workflow)?;
        let number = match versions.standing(tenant, workflow).await {
            Ok(Standing { is_archived: true, .. }) => {
                return Ok(Err(format!("the workflow of the decision `{name}` is archived")));
            }
            Ok(Standing { latest: Some(latest), .. }) => latest,
            Ok(Standing { latest: None, .. }) | Err(StoreError::NotFound) => return Ok(Err(unknown(name))),
            Err(error) => return Err(error.into()),
        };
        let compiled = versions.plan(tenant, workflow, number).await?;
        let decision = if is_named { Some(name.to_owned()) } else { only(&compiled) };
        Ok(match (compiled.decisions.clone(), decision) {
            (Some(model), Some(decision)) => Ok(DecisionElsewhere { model, decision }),
            (Some(_), None) => {
                Err(format!("the workflow `{name}` has several decisions: name one of them by its id"))
            }
            (None, _) => Err(format!("the workflow `{name}` has no decisions")),
        })
    }

    async fn place_of(&self, tenant: TenantId, name: &str) -> Result<Result<Place, String>, UseCaseError> {
        let versions = self.ports.versions.of(DefinitionKind::Workflow)?;
        let named = versions.callable(tenant, &decision_name(name)).await?.processes;
        let (workflow, is_named) = match named.as_slice() {
            [only] => (Some(*only), true),
            [] => match name.parse::<WorkflowId>() {
                Ok(id) => (Some(id), false),
                Err(_) => (versions.callable(tenant, name).await?.slug, false),
            },
            several => {
                return Ok(Err(format!(
                    "{} published workflows have a decision `{name}`: name the workflow by its id or slug",
                    several.len()
                )));
            }
        };
        Ok(workflow.map(|workflow| Place { workflow, is_named }).ok_or_else(|| unknown(name)))
    }
}

fn unknown(name: &str) -> String {
    format!("no published workflow has the id, a decision or the slug `{name}`")
}

/// The decision that a workflow of decisions means: the one that a start of it evaluates, else its only one.
fn only(compiled: &CompiledVersion) -> Option<String> {
    let model: &Decisions = compiled.decisions.as_ref()?;
    let started = compiled.startable(None).ok().map(|plan| plan.id().to_owned());
    let started = started.filter(|id| wanted(model, id).is_some());
    started.or_else(|| match callable(model).collect::<Vec<_>>().as_slice() {
        [(id, _)] => Some((*id).to_owned()),
        _ => None,
    })
}
