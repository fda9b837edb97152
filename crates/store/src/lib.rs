//! The database: SQLite and PostgreSQL behind one query text.
