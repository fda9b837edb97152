//! Use cases of vector databases: databases and their generations, files, jobs, queries with citations, and the ingestion
//! that makes passages of files; and the ports through which they reach storage, indexes, models and the reading of files.
//!
//! Rows are the truth, indexes are caches of them: each commit that changes what can be found has a number, an index
//! carries the number that it has applied, and a query waits until its index has the one that the database had when the
//! query began. So nothing that was acknowledged as deleted is ever answered.

mod allowed;
mod bounds;
mod databases;
mod files;
mod filter;
mod fusion;
mod indexer;
mod ingest;
mod jobs;
mod metadata;
pub mod ports;
mod query;
pub mod records;
mod retrieval;
#[cfg(test)]
mod tests;

#[cfg(any(test, feature = "mock"))]
pub use bounds::MockQuotaSource;
pub use bounds::{Come, FixedQuotas, QuotaSource, UPLOAD_TIME, UploadBounds, UploadPolicy};
pub use databases::{
    AddressAvailability, AddressFault, DatabasePorts, NewVectorDatabase, VectorDatabasePatch, VectorDatabases,
};
pub use files::{FilePatch, FilePorts, NewFile, Uploaded, VectorFiles};
pub use filter::Filter;
pub use fusion::{Fusion, diverse, fused, single};
pub use indexer::{FollowError, Indexer, spec_of};
pub use ingest::{IngestPorts, IngestSettings, IngestTask, Ingestion};
pub use jobs::IngestionJobs;
pub use metadata::values_of;
pub use query::{Answer, Cited, Query, QueryPorts, Rerank, Scores, VectorQueries};

pub(crate) use heddle_usecase::{Problem, Problems, UseCaseError};
