//! The write-ahead log of SQLite, written in a few long calls.
//!
//! SQLite hands each frame of the log to its file system as two writes, 24 bytes and then a page: some 200 calls of the system
//! for a commit of 100 pages, which were a seventh of what a server does that mostly commits. The file system that
//! [`install`] puts before SQLite's own one keeps frames until the one that ends a transaction has come, and writes them in
//! one piece each 128 KiB. All else, every other file too, goes to SQLite's own at once.
//!
//! What is kept is never missed. A frame counts only once the transaction's last frame is in the log, which is never kept; a
//! read of what is kept, a sync or the question for the file's length writes it first. What a full disk refuses stays kept
//! until there is room, and what a transaction took back is forgotten before anybody else may write.

mod frames;
mod vfs;

pub use vfs::{InstallError, install};
