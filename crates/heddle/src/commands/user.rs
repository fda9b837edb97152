//! `heddle user`.

use anyhow::{Context as _, Result};
use heddle_server::operator::{self, CreatedUser, NewUser};
use heddle_server::{Composition, Config};
use serde_json::{json, to_value};

use super::{acting, operate};
use crate::cli::CreateUser;
use crate::output::{self, Failure};

pub(crate) async fn create(config: Config, options: CreateUser, as_json: bool) -> Result<()> {
    let password = match &options.password_file {
        None => None,
        Some(path) => {
            let text = std::fs::read_to_string(path).with_context(|| format!("`{}`", path.display()))?;
            Some(text.trim_end_matches(['\r', '\n']).to_owned())
        }
    };
    let bar = output::progress("creating the user", 1);
    let beginning = operator::Beginning::of(&config);
    let made = async {
        let core = operate(config).await?;
        let made = create_in(&core, options, password).await;
        core.stop().await;
        made
    };
    let made = made.await;
    bar.finish_and_clear();
    // A failed set-up leaves no installation that nobody asked for.
    if made.is_err() {
        beginning.take_back();
    }
    let made = made?;
    if as_json {
        output::json(&to_value(&made)?);
        return Ok(());
    }
    output::line(&format!("Created {} with the role {} in {}.", made.email, made.role, made.organization));
    if let Some(password) = &made.password {
        output::line(&format!("Password, shown this once: {password}"));
    }
    Ok(())
}

pub(crate) async fn unlock(config: Config, email: &str, as_json: bool) -> Result<()> {
    let core = operate(config).await?;
    let forgotten = operator::unlock_user(&core.app, email).await;
    core.stop().await;
    let forgotten = forgotten?;
    if as_json {
        output::json(&json!({ "email": email, "forgotten": forgotten }));
    } else if forgotten == 0 {
        output::line(&format!("{email} had no failed sign-ins."));
    } else {
        output::line(&format!("The failed sign-ins of {email} are forgotten."));
    }
    Ok(())
}

async fn create_in(core: &Composition, options: CreateUser, password: Option<String>) -> Result<CreatedUser> {
    let new = NewUser {
        display_name: options.name.unwrap_or_else(|| options.email.clone()),
        email: options.email,
        role: options.role,
        password,
    };
    if !core.is_new() {
        let acting = acting(core, &options.place).await?;
        return Ok(operator::create_user(&core.app, &acting, new).await?);
    }
    let Some(organization) = &options.place.organization else {
        let message = "the installation is not set up: `--organization SLUG` is needed, which is created with its owner";
        return Err(Failure::Configuration(message.to_owned()).into());
    };
    Ok(operator::set_up(&core.app, organization, new).await?)
}
