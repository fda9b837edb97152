//! Test servers and databases.

pub mod db;
