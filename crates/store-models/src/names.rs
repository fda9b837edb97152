//! Columns that name a thing, by which access filters narrow lists.

use heddle_policy::resource::{Deployment, Model, ModelConnection};
use heddle_store::does_not_name;
use heddle_store::filter::Names;

use crate::schema::{model_connections, model_deployments, model_sums};

impl Names<ModelConnection> for model_connections::id {}
impl Names<Deployment> for model_deployments::id {}
impl Names<Deployment> for model_sums::deployment_id {}
impl Names<Model> for model_deployments::id {}

// A deployment is not its connection: looked at whenever this is compiled.
const _: fn() = || {
    does_not_name!(model_deployments::connection_id, ModelConnection);
    does_not_name!(model_deployments::id, ModelConnection);
    does_not_name!(model_connections::id, Deployment);
};
