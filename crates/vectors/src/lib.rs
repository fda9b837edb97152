//! Use cases of vector databases: databases and their generations, files, jobs, queries with citations, and the ingestion
//! that makes passages of files; and the ports through which they reach storage, indexes, models and the reading of files.
//!
//! Rows are the truth, indexes are caches of them: each commit that changes what can be found has a number, an index
//! carries the number that it has applied, and a query waits until its index has the one that the database had when the
//! query began. So nothing that was acknowledged as deleted is ever answered.

pub mod ports;
pub mod records;
