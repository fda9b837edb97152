//! Rows and queries of vector databases, on SQLite and PostgreSQL.

mod pgvector;

pub use pgvector::PassageIndexes;
