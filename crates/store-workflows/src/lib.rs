//! Rows and queries of workflows and runs.
