//! Rows and queries of identity.
