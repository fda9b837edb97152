//! The mapping engine with vocabularies that are not BPMN: an invented one and a part of CMMN.

mod cases;
mod cmmn;
mod library;
mod shelves;
