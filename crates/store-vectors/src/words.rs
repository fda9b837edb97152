//! The literals of the tables: what a column of text may hold.

use heddle_store::word;
use heddle_vectors::records::{Backend, BuildState, DatabaseState, FileState, JobKind, JobState, Stage};

word!(StateWord of DatabaseState, "the state of a vector database");
word!(BackendWord of Backend, "the keeper of an index");
word!(FileWord of FileState, "the state of a file");
word!(StageWord of Stage, "the stage of a file");
word!(BuildWord of BuildState, "the state of a build");
word!(JobKindWord of JobKind, "the kind of a job");
word!(JobWord of JobState, "the state of a job");
