//! Calls from their deployment to their end.
