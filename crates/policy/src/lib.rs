//! Who may do what: permissions, grants, scopes, decisions with reasons, licence states.
