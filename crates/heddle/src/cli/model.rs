//! `heddle model`, `heddle chat`, `heddle embed` and `heddle usage`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Place;

/// `heddle model`.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// List the types of providers, with what each can do.
    Types(ListModelTypes),
    /// List connections to providers by name, with how their last test ended.
    Connections(ListModelConnections),
    /// Connect a provider or a local runtime.
    Connect(ConnectProvider),
    /// Ask a provider which models it has, and list them.
    Discover(OneModelConnection),
    /// Deploy models of a provider, so that they can be called.
    Import(ImportModels),
    /// List deployments with their state.
    Deployments(ListDeployments),
    /// List the models that the caller may use.
    List(ListModels),
}

/// `heddle model types`.
#[derive(Debug, Args)]
pub(crate) struct ListModelTypes {
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle model connections`.
#[derive(Debug, Args)]
pub(crate) struct ListModelConnections {
    /// Only those of this type, such as openai or ollama.
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
    /// Only those whose name has this text in it.
    #[arg(short, long, value_name = "TEXT")]
    pub query: Option<String>,
    /// The most to list.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    pub limit: usize,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle model connect`.
#[derive(Debug, Args)]
pub(crate) struct ConnectProvider {
    /// Name of the connection, unique within the organisation.
    pub name: String,
    /// Type of the provider, such as openai or ollama; `heddle model types` lists them.
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: String,
    /// Address of the provider, where it is not the one that the type has.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// File with the provider's key; `-` reads it from the standard input. It is sealed and never shown again.
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle model discover`.
#[derive(Debug, Args)]
pub(crate) struct OneModelConnection {
    /// The connection, by its name or id.
    pub connection: String,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle model import`.
#[derive(Debug, Args)]
pub(crate) struct ImportModels {
    /// The connection, by its name or id.
    pub connection: String,
    /// The models, by the names that the provider knows them by; `NAME=ALIAS` gives one a name of one's own.
    #[arg(required = true, value_name = "MODEL")]
    pub models: Vec<String>,
    /// Deploy all of them or none.
    #[arg(long)]
    pub atomic: bool,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle model deployments`.
#[derive(Debug, Args)]
pub(crate) struct ListDeployments {
    /// Only those with this ability: chat, embeddings, jsonSchema, rerank, stream, tools or vision.
    #[arg(long, value_name = "ABILITY")]
    pub capability: Option<String>,
    /// Only those in this state: ready, loading, unloaded, missing or error.
    #[arg(long, value_name = "STATE")]
    pub state: Option<String>,
    /// The most to list.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    pub limit: usize,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle model list`.
#[derive(Debug, Args)]
pub(crate) struct ListModels {
    /// Only those with this ability.
    #[arg(long, value_name = "ABILITY")]
    pub capability: Option<String>,
    /// The most to list.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    pub limit: usize,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle chat`.
#[derive(Debug, Args)]
pub(crate) struct AskModel {
    /// The model: the alias of a deployment, or its id.
    pub model: String,
    /// The question; the standard input when absent.
    pub question: Option<String>,
    /// Instructions that stand before the question.
    #[arg(long, value_name = "TEXT")]
    pub system: Option<String>,
    /// The most tokens of the answer.
    #[arg(long, value_name = "NUMBER")]
    pub max_tokens: Option<u64>,
    /// Temperature of the choice of words, 0 to 2.
    #[arg(long, value_name = "NUMBER")]
    pub temperature: Option<f64>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle embed`.
#[derive(Debug, Args)]
pub(crate) struct EmbedTexts {
    /// The model: the alias of a deployment, or its id.
    pub model: String,
    /// The texts; each line of the standard input is one when absent.
    pub texts: Vec<String>,
    /// Dimensions of the vectors, where the model leaves a choice.
    #[arg(long, value_name = "NUMBER")]
    pub dimensions: Option<u32>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle usage`.
#[derive(Debug, Args)]
pub(crate) struct ShowUsage {
    /// Axis along which is summed: day, deployment, user or workflow.
    #[arg(long, value_name = "AXIS", default_value = "day")]
    pub by: String,
    /// First day, as 2026-11-01; 30 days before the last one when absent.
    #[arg(long, value_name = "DAY")]
    pub from: Option<String>,
    /// Last day; today when absent.
    #[arg(long, value_name = "DAY")]
    pub to: Option<String>,
    /// The most rows.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    pub limit: usize,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}
