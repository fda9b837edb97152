//! Work of the service's own node kinds. Each kind is called with the rights of the person in whose name it is done, as
//! they are at the moment of the call, and goes through the use cases that a request goes through: a deny on a
//! database or a document holds in a workflow as it does over HTTP.

mod arguments;
mod documents;
mod models;
mod rights;
mod uses;
mod vectors;

pub use documents::DocumentNodes;
pub use models::ModelNodes;
pub use rights::StarterRights;
pub use uses::{DefinitionsOfDatabases, DefinitionsOfDeployments};
pub use vectors::{VectorNodePorts, VectorNodes};
