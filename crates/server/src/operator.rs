//! What the command line does with a composed service.
