//! Execution of BPMN: commands in, events out.
