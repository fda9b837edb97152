//! Records: a runtime's models and where they are.

/// Abilities of a model, as far as its runtime tells them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each ability is told apart from the others")]
pub struct Features {
    /// Chats and completes.
    pub chat: bool,
    /// Makes vectors of texts.
    pub embeddings: bool,
    /// Calls tools; none where the runtime does not tell.
    pub tools: Option<bool>,
    /// Reads images; none where the runtime does not tell.
    pub vision: Option<bool>,
    /// Thinks before it answers.
    pub reasoning: bool,
    /// Ranks passages.
    pub rerank: bool,
}

/// Model of a runtime.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalModel {
    /// Name by which it is asked for.
    pub id: String,
    /// Digest or commit of its weights, by which a change is seen; none where the runtime tells none.
    pub revision: Option<String>,
    /// Bytes of its files.
    pub bytes: Option<u64>,
    /// Tokens that it reads at most.
    pub context_length: Option<u64>,
    /// Numbers of a vector, of a model with embeddings.
    pub dimensions: Option<u64>,
    /// Family or architecture, such as `llama`.
    pub family: Option<String>,
    /// Parameters in the runtime's words, such as `7B`.
    pub parameters: Option<String>,
    /// Form of its weights, such as `Q4_K_M`.
    pub quantization: Option<String>,
    /// Abilities; none where the runtime tells nothing about them.
    pub features: Option<Features>,
    /// Residence of the model; none where the list of models does not tell.
    pub residence: Option<Residence>,
}

/// Residence of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Residence {
    /// Whether it answers, is being loaded, or is not in memory.
    pub state: Residency,
    /// Bytes of memory, all kinds together.
    pub bytes: Option<u64>,
    /// Bytes of a graphics card's memory among them.
    pub vram_bytes: Option<u64>,
    /// Instant, RFC 3339, at which it leaves the memory unless it is asked; in the runtime's spelling.
    pub expires_at: Option<String>,
    /// Tokens that it reads at most as it was loaded.
    pub context_length: Option<u64>,
    /// Name by which the loaded one is put away, where it differs from the model's.
    pub instance: Option<String>,
    /// Reason why it could not be loaded, in the runtime's words, cut to 200 characters.
    pub failure: Option<String>,
}

/// State of a model's residence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Residency {
    /// Residence in memory, ready to answer.
    Loaded,
    /// State on the way into memory.
    Loading,
    /// Not in memory.
    #[default]
    Unloaded,
}

/// Wish for how long a loaded model stays in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Until it is put away.
    Pinned,
    /// So many seconds behind the last call.
    IdleSeconds(u64),
    /// As the runtime is set up.
    AsSetUp,
}

/// Wish for a model in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wish {
    /// Time for which it stays.
    pub keep: Keep,
    /// Tokens of context that it is read with; none: the runtime's own.
    pub context_length: Option<u64>,
    /// Whether it makes vectors and does not chat: such a model may be read by another call.
    pub embeds: bool,
}

/// Parts of a wish that a runtime can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wishes {
    /// Time without a call after which a model goes.
    pub idle: bool,
    /// Tokens of context.
    pub context: ContextWish,
    /// Most bytes of a model: the runtime tells how large its models are before they are read.
    pub bytes: bool,
}

/// Manner in which a runtime can be told the context of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextWish {
    /// Whenever it is read, by a call for that and by any other.
    Always,
    /// Told by the call for that alone, so that only a model that is held has it for sure.
    WhenHeld,
    /// Not at all.
    Never,
}
