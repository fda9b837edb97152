//! Rows and queries of vector databases, on SQLite and PostgreSQL.
