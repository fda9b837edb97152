//! Nodes over a model that answers as it is told.
