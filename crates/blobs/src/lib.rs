//! The bytes of files: kept in a directory of this machine, or in a bucket that speaks as Amazon S3 does, whose traffic goes
//! out through `heddle-egress` like all other.
//!
//! The key of a blob is `<shard>/<id>`, where the id is a UUIDv7 and the shard its last two hexadecimal digits: no directory
//! grows with what is stored, and the id says when the blob was kept. Each organisation has a directory of its own.

mod out;
mod store;

pub use out::S3Settings;
pub use store::{BlobStore, OpenError};
