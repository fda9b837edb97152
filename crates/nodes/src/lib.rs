//! Nodes that the service does itself.
