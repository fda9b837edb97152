//! `heddle user`, `heddle token` and `heddle licence`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Place;

/// `heddle user`.
#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// List the users of the organisation.
    List(ListUsers),
    /// Create a user; prints the password once. With `--role owner` it also sets a new installation up.
    Create(CreateUser),
    /// Give people a role in the organisation: those without an account get one, with a first password that is printed
    /// once.
    Invite(InviteUsers),
    /// Set a user's password, which ends their sessions; prints it once if it is made here.
    SetPassword(SetPassword),
    /// Switch an account off: its sessions and tokens are refused from the next request on.
    Disable(OneUser),
    /// Switch an account on again.
    Enable(OneUser),
    /// Remove a user's second factor, for who lost authenticator and recovery codes; their sessions end.
    ResetSecondFactor(OneUser),
    /// Unlink a user from a provider of sign-ins; the sessions that were opened by it end.
    Unlink(UnlinkUser),
    /// Forget the failed sign-ins of a user, so that the next is looked at without a wait.
    Unlock {
        /// The e-mail address that the user signs in with.
        email: String,
    },
}

/// `heddle user list`.
#[derive(Debug, Args)]
pub(crate) struct ListUsers {
    /// Only those whose e-mail address or name has this text.
    #[arg(long, value_name = "TEXT")]
    pub search: Option<String>,
    /// The most to list.
    #[arg(long, value_name = "NUMBER", default_value_t = 200)]
    pub limit: usize,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle user disable`, `heddle user enable` and `heddle user reset-second-factor`.
#[derive(Debug, Args)]
pub(crate) struct OneUser {
    /// The user's e-mail address or id.
    pub user: String,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle user unlink`.
#[derive(Debug, Args)]
pub(crate) struct UnlinkUser {
    /// The user's e-mail address or id.
    pub user: String,
    /// The provider's name.
    pub provider: String,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle user create`.
#[derive(Debug, Args)]
pub(crate) struct CreateUser {
    /// The e-mail address that the user signs in with.
    #[arg(long)]
    pub email: String,
    /// The name shown; the e-mail address without it.
    #[arg(long)]
    pub name: Option<String>,
    /// The role's name.
    #[arg(long, default_value = "viewer")]
    pub role: String,
    /// Create a service account: it has API tokens and no password.
    #[arg(long, conflicts_with = "password_file")]
    pub service: bool,
    /// Read the password from this file instead of making one; `-` for standard input.
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle user invite`.
#[derive(Debug, Args)]
pub(crate) struct InviteUsers {
    /// The e-mail addresses.
    #[arg(required = true, value_name = "EMAIL")]
    pub emails: Vec<String>,
    /// The role's name.
    #[arg(long, default_value = "viewer")]
    pub role: String,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle user set-password`.
#[derive(Debug, Args)]
pub(crate) struct SetPassword {
    /// The user.
    #[command(flatten)]
    pub user: OneUser,
    /// Read the password from this file instead of making one; `-` for standard input.
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
}

/// `heddle token`.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Create an API token of the account; prints it once.
    Create(CreateToken),
    /// List the account's API tokens.
    List(ListTokens),
    /// Delete one of the account's API tokens: it is refused from the next request on.
    Delete(DeleteToken),
}

/// `heddle token create`.
#[derive(Debug, Args)]
pub(crate) struct CreateToken {
    /// Name that says what it is for; unique among the account's tokens.
    pub name: String,
    /// Make it for this service account, by its e-mail address or id; it then acts in this organisation alone.
    #[arg(long, value_name = "USER")]
    pub service: Option<String>,
    /// Narrow it to these permissions, with commas: workflows.run,runs.view.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub permissions: Vec<String>,
    /// Instant at which it ends, such as 2027-01-01T00:00:00Z.
    #[arg(long, value_name = "INSTANT")]
    pub expires: Option<String>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle token list`.
#[derive(Debug, Args)]
pub(crate) struct ListTokens {
    /// Those of this service account, by its e-mail address or id.
    #[arg(long, value_name = "USER")]
    pub service: Option<String>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle token delete`.
#[derive(Debug, Args)]
pub(crate) struct DeleteToken {
    /// The token's name or id.
    pub token: String,
    /// One of this service account, by its e-mail address or id.
    #[arg(long, value_name = "USER")]
    pub service: Option<String>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle licence`.
#[derive(Debug, Subcommand)]
pub(crate) enum LicenceCommand {
    /// Show the licence and its state.
    Show {
        /// The place.
        #[command(flatten)]
        place: Place,
    },
    /// Print the request for a licence, JSON that whoever issues licences needs.
    Request {
        /// The place.
        #[command(flatten)]
        place: Place,
    },
    /// Name the keys whose licences this program accepts; they were given when it was built.
    Keys,
    /// Start the installation's own trial of 30 days, which it has once.
    Trial {
        /// The place.
        #[command(flatten)]
        place: Place,
    },
    /// Install a licence from a file.
    Install {
        /// The licence file; `-` for standard input.
        file: PathBuf,
        /// Install it although it was issued before the one installed.
        #[arg(long)]
        force: bool,
        /// The place.
        #[command(flatten)]
        place: Place,
    },
}
