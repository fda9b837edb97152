//! The mapping engine with vocabularies that are not BPMN: an invented one and a part of CMMN.

#[cfg(test)]
mod cases;
#[cfg(test)]
mod cmmn;
#[cfg(test)]
mod library;
#[cfg(test)]
mod shelves;
