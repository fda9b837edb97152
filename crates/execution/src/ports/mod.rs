//! The ports of this area. Each method is one atomic unit; every query is held to the tenant that it is given.

mod background;
mod directory;
mod feed_mark;
mod jobs;
mod permit;
mod runs;
mod service;
mod subscribers;
mod versions;

pub use background::*;
pub use directory::*;
pub use feed_mark::FeedMark;
pub use jobs::*;
pub use permit::*;
pub use runs::*;
pub use service::*;
pub use subscribers::*;
pub use versions::*;
