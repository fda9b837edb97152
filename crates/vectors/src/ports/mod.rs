//! The ports of vector databases.
//!
//! Obligations of every method of a store that writes: what the [`heddle_usecase::Journal`] holds is written in the same
//! transaction; `Stale` when the expected revision is not the stored one, `NotFound` when there is no such row *in that
//! organisation*, `Duplicate` with the columns of a unique value that is taken; counts are those of the same commit.

mod index;
mod models;
mod outside;
mod stores;

pub use index::{Given, IndexError, IndexSpec, IndexedPassage, LegScores, PassageHit, PassageIndex, Search};
pub(crate) use models::check_vector;
pub use models::{
    Asker, EmbedError, Embedder, EmbeddingModel, ModelSource, ModelState, Priority, Reranker, embed_one,
};
pub use outside::{
    BlobError, Blobs, ByteStream, ChunkSettings, ChunkedPassage, Chunker, DatabaseUses, DocumentPart,
    DocumentText, ExtractError, Extractor, FileToExtract, Heading, Methodology, MethodologyKind, OptionFault,
    PartKind, StoredBlob, UploadType, Use, UseKind,
};
pub use stores::{
    BuildEnd, Change, ChangesSince, Claimed, Cut, DatabaseFilter, DatabaseUpdate, Deleted, FieldCondition,
    FieldTest, FieldValue, FileFilter, FilePatchWrite, FileUpload, FoundPassage, IngestStore, JobFilter,
    LiveFile, Neighbours, NodeIdentity, PassageStore, Position, Purge, Quotas, Reprocess, Sort, Usage,
    VectorStore,
};

#[cfg(any(test, feature = "mock"))]
pub use self::{
    index::MockPassageIndex,
    models::{MockEmbedder, MockReranker},
    outside::{MockBlobs, MockChunker, MockDatabaseUses, MockExtractor},
    stores::{MockIngestStore, MockPassageStore, MockVectorStore},
};
