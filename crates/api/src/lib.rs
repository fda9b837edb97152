//! The operations table, wire types, error codes and the OpenAPI documents.
