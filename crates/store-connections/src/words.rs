//! The literals of the tables: what a column of text may hold.

use heddle_connections::ConnectionKind;
use heddle_connections::records::PauseReason;
use heddle_store::word;

word!(KindWord of ConnectionKind, "the type of a connection");
word!(PauseWord of PauseReason, "the reason of a pause");
