//! Use cases: workflows, versions, runs, human tasks, case events; and their ports.
