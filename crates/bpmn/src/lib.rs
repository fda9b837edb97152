//! The workflow definition, BPMN 2.0 XML in and out, validation, and the executable graph.
