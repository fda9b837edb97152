//! `heddle case`.

use clap::{Args, Subcommand};

use super::Place;

/// `heddle case`.
#[derive(Debug, Subcommand)]
pub(crate) enum CaseCommand {
    /// Start a case of a case type.
    Start(StartCase),
    /// List cases, the newest first.
    List(ListCases),
    /// Show a case: its items, what each waits for, its file, tasks and incidents.
    Get(OneCase),
    /// Move a case, or with --item one of its items, through its life cycle.
    Transition(MoveCase),
    /// Show the file of a case, or with --item and --value change an item of it.
    File(CaseFile),
    /// List the events of a case.
    Events(CaseEvents),
}

/// `heddle case start`.
#[derive(Debug, Args)]
pub(crate) struct StartCase {
    /// The case type's slug or id.
    pub case_type: String,
    /// Values of case file items by their names, as a JSON object, `@FILE` with it, or `-` for standard input.
    #[arg(long, value_name = "JSON")]
    pub file: Option<String>,
    /// Values of input parameters by their names, as a JSON object, `@FILE` with it, or `-` for standard input.
    #[arg(long, value_name = "JSON")]
    pub input: Option<String>,
    /// Somebody who fills a role of the case: the role's id or name, and the user's id or e-mail address. May be given again.
    #[arg(long = "role", value_name = "ROLE=USER")]
    pub roles: Vec<String>,
    /// The version; the published one without it.
    #[arg(long, value_name = "NUMBER")]
    pub of: Option<i32>,
    /// Id of the case, where the definition has several.
    #[arg(long, value_name = "ID")]
    pub definition: Option<String>,
    /// Key by which people know the case.
    #[arg(long, value_name = "TEXT")]
    pub business_key: Option<String>,
    /// Key by which events find the case.
    #[arg(long, value_name = "TEXT")]
    pub correlation_key: Option<String>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle case list`.
#[derive(Debug, Args)]
pub(crate) struct ListCases {
    /// Only those of this case type, by its slug or id.
    #[arg(long = "type", value_name = "CASE-TYPE")]
    pub case_type: Option<String>,
    /// Only those in this state: active, completed, terminated, failed, suspended or closed.
    #[arg(long, value_name = "STATE")]
    pub state: Option<String>,
    /// Only those with an incident.
    #[arg(long)]
    pub incidents: bool,
    /// The most to list.
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    pub limit: usize,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle case get`.
#[derive(Debug, Args)]
pub(crate) struct OneCase {
    /// The case's id.
    pub case: String,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle case transition`.
#[derive(Debug, Args)]
pub(crate) struct MoveCase {
    /// The case's id.
    pub case: String,
    /// The transition: of a case suspend, resume, complete, reactivate, close or terminate; of an item also manualStart,
    /// enable, disable, reenable, occur or plan.
    pub transition: String,
    /// The item, by the id of its instance or of the item in the definition.
    #[arg(long, value_name = "ITEM")]
    pub item: Option<String>,
    /// With `plan`: the stage or task to plan the item into.
    #[arg(long, value_name = "ITEM", requires = "item")]
    pub host: Option<String>,
    /// With `occur`: data of the event as JSON, `@FILE` with it, or `-` for standard input.
    #[arg(long, value_name = "JSON", requires = "item")]
    pub payload: Option<String>,
    /// With `terminate` of a case: the reason.
    #[arg(long, value_name = "TEXT", conflicts_with = "item")]
    pub reason: Option<String>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle case file`.
#[derive(Debug, Args)]
pub(crate) struct CaseFile {
    /// The case's id.
    pub case: String,
    /// The case file item, by its id or name.
    #[arg(long, value_name = "ITEM", requires = "value")]
    pub item: Option<String>,
    /// Value of the item as JSON, `@FILE` with it, or `-` for standard input; null deletes it.
    #[arg(long, value_name = "JSON", requires = "item")]
    pub value: Option<String>,
    /// Change that is meant, such as `update` or `addChild`.
    #[arg(long, value_name = "WORD", requires = "item")]
    pub transition: Option<String>,
    /// Numbers of the instances, from 0, where there may be several: of those around it, outermost first, and its own.
    #[arg(long, value_name = "NUMBERS", requires = "item", value_delimiter = ',')]
    pub at: Vec<u32>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle case events`.
#[derive(Debug, Args)]
pub(crate) struct CaseEvents {
    /// The case's id.
    pub case: String,
    /// Only events behind the one with this number.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub after: u64,
    /// The most to list.
    #[arg(long, value_name = "NUMBER", default_value_t = 200)]
    pub limit: usize,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}
