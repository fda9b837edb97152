//! Test servers and databases.
