//! `heddle user`.

use anyhow::Result;
use heddle_server::operator;
use serde_json::{Value, json};

use super::given;
use crate::cli::{CreateUser, InviteUsers, ListUsers, OneUser, SetPassword, UnlinkUser};
use crate::client::{Client, Query, text};
use crate::failure::{Failure, Refusal, sentence};
use crate::output;

/// Name of the role that a new installation's first user has.
const OWNER: &str = "owner";

pub(crate) async fn list(client: &Client, options: &ListUsers, as_json: bool) -> Result<()> {
    let query = Query::default().maybe("q", options.search.as_deref());
    let rows = client.list("/api/users", &query, options.limit).await?;
    if as_json {
        output::json(&json!({ "users": rows }));
        return Ok(());
    }
    let cells =
        |row: &Value| ["/email", "/displayName", "/state", "/id"].map(|name| text(row, name).to_owned());
    output::table(["EMAIL", "NAME", "STATE", "ID"], &rows.iter().map(cells).collect::<Vec<_>>());
    Ok(())
}

pub(crate) async fn create(client: &Client, options: &CreateUser, as_json: bool) -> Result<()> {
    let (password, made) = match options.service {
        true => (None, None),
        false => {
            let (password, made) = chosen(given::password(options.password_file.as_deref())?)?;
            (Some(password), made)
        }
    };
    let name = options.name.clone().unwrap_or_else(|| options.email.clone());
    let is_new = client.is_local() && {
        let state = client.get("/local/installation").await?;
        state.get("setUp").and_then(Value::as_bool) == Some(false)
    };
    let (id, email, organization) = if is_new {
        let Some(password) = password.as_deref() else {
            let message = "the installation is not set up: its first user is a person";
            return Err(Failure::Refused(message.to_owned()).into());
        };
        let body = set_up(options, &name, password)?;
        let done = client.post("/local/set-up", &body).await?;
        (
            text(&done, "/id").to_owned(),
            text(&done, "/email").to_owned(),
            text(&done, "/organization").to_owned(),
        )
    } else {
        if client.is_local() && options.place.account.is_none() && options.place.token()?.is_none() {
            let message = "`--as EMAIL` is needed: an account of the organisation, in whose name it is done";
            return Err(Failure::Configuration(message.to_owned()).into());
        }
        let mut body = json!({ "email": options.email, "displayName": name, "roles": [options.role] });
        if let Some(members) = body.as_object_mut() {
            match &password {
                Some(password) => members.insert("password".to_owned(), json!(password)),
                None => members.insert("kind".to_owned(), json!("service")),
            };
        }
        let organization = client.organization().await?;
        let done = client.post("/api/users", &body).await?;
        (text(&done, "/id").to_owned(), text(&done, "/email").to_owned(), organization)
    };
    if as_json {
        let mut told =
            json!({ "id": id, "email": email, "organization": organization, "role": options.role });
        with_password(&mut told, made);
        output::json(&told);
        return Ok(());
    }
    output::line(&format!("Created {email} with the role {} in {organization}.", options.role));
    show_password(made.as_deref());
    Ok(())
}

fn set_up(options: &CreateUser, name: &str, password: &str) -> Result<Value> {
    let Some(organization) = &options.place.organization else {
        let message = "the installation is not set up: `--organization SLUG` is needed, which is created with its owner";
        return Err(Failure::Configuration(message.to_owned()).into());
    };
    may_begin(options)?;
    Ok(json!({
        "organization": organization, "email": options.email, "displayName": name, "password": password,
    }))
}

/// Looks whether a new installation could begin with this user, before anything is made for it.
///
/// # Errors
/// `Refused` for another role than the owner's.
pub(crate) fn may_begin(options: &CreateUser) -> Result<()> {
    if options.role == OWNER {
        return Ok(());
    }
    let message = "the installation is not set up: its first user has the role `owner` (--role owner)";
    Err(Failure::Refused(message.to_owned()).into())
}

pub(crate) async fn invite(client: &Client, options: &InviteUsers, as_json: bool) -> Result<()> {
    let organization = client.organization().await?;
    let bar = output::progress("inviting", options.emails.len() as u64);
    let (mut told, mut failures) = (Vec::new(), Vec::new());
    for email in &options.emails {
        match invite_one(client, email, &options.role).await {
            Ok(row) => told.push(row),
            Err(error) => {
                let mut row = output::described(&error);
                if let Some(members) = row.as_object_mut() {
                    members.insert("email".to_owned(), json!(email));
                }
                told.push(row);
                failures.push((email, error));
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if as_json {
        output::json(&json!({ "organization": organization, "users": told }));
    } else {
        for row in told.iter().filter(|row| row.get("error").is_none()) {
            let first = text(row, "/password");
            let rest = if first.is_empty() { String::new() } else { format!("  first password: {first}") };
            output::line(&format!("{}  {} in {organization}{rest}", text(row, "/email"), options.role));
        }
        for (email, error) in &failures {
            output::note(&format!("{email}: {}", sentence(error)));
        }
    }
    let codes = failures.iter().map(|(_, error)| crate::failure::code(error));
    super::several(codes, options.emails.len())
}

/// Gives one person the role: with a new account, or with the one that they have in the organisation.
async fn invite_one(client: &Client, email: &str, role: &str) -> Result<Value> {
    if let Some(user) = client.user_if_any(email).await? {
        let id = text(&user, "/id");
        let members = client.list("/api/members", &Query::default(), usize::MAX).await?;
        let present = members.iter().find(|member| text(member, "/userId") == id);
        let present = present.and_then(|member| member.get("roles")).and_then(Value::as_array);
        let mut present_roles = present.into_iter().flatten();
        let ended = present_roles.any(|one| text(one, "/name") == role && text(one, "/state") == "expired");
        let mut roles: Vec<String> =
            present.into_iter().flatten().map(|role| text(role, "/name").to_owned()).collect();
        if !roles.iter().any(|known| known == role) {
            roles.push(role.to_owned());
        }
        // Of a role that has ended the end goes; the others keep theirs.
        let mut body = json!({ "roles": roles });
        if let (true, Some(body)) = (ended, body.as_object_mut()) {
            body.insert("roleExpiries".to_owned(), json!([{ "role": role, "expiresAt": null }]));
        }
        client.put(&format!("/api/members/{id}"), &body).await?;
        return Ok(json!({ "id": id, "email": text(&user, "/email"), "roles": roles, "created": false }));
    }
    let password = operator::random_password()?;
    let body = json!({ "email": email, "displayName": email, "password": password, "roles": [role] });
    let made = client.post("/api/users", &body).await?;
    let (id, email) = (text(&made, "/id"), text(&made, "/email"));
    Ok(json!({ "id": id, "email": email, "roles": [role], "created": true, "password": password }))
}

pub(crate) async fn set_password(client: &Client, options: &SetPassword, as_json: bool) -> Result<()> {
    let (password, made) = chosen(given::password(options.password_file.as_deref())?)?;
    let user = client.user(&options.user.user).await?;
    let path = format!("/api/users/{}", text(&user, "/id"));
    client.patch(&path, &json!({ "password": password })).await?;
    let email = text(&user, "/email");
    if as_json {
        let mut told = json!({ "id": text(&user, "/id"), "email": email });
        with_password(&mut told, made);
        output::json(&told);
        return Ok(());
    }
    output::line(&format!("The password of {email} is set, and the sessions of the account have ended."));
    show_password(made.as_deref());
    Ok(())
}

pub(crate) async fn switch(client: &Client, options: &OneUser, on: bool, as_json: bool) -> Result<()> {
    let user = client.user(&options.user).await?;
    let (state, word) = if on { ("active", "on") } else { ("disabled", "off") };
    let path = format!("/api/users/{}", text(&user, "/id"));
    let changed = client.patch(&path, &json!({ "state": state })).await?;
    if as_json {
        output::json(&changed);
    } else {
        output::line(&format!("The account {} is switched {word}.", text(&user, "/email")));
    }
    Ok(())
}

pub(crate) async fn reset_second_factor(client: &Client, options: &OneUser, as_json: bool) -> Result<()> {
    let user = client.user(&options.user).await?;
    let path = format!("/api/users/{}", text(&user, "/id"));
    let changed = client.patch(&path, &json!({ "secondFactor": false })).await?;
    if as_json {
        output::json(&changed);
    } else if user.get("secondFactor").and_then(Value::as_bool) == Some(false) {
        output::line(&format!("{} had no second factor.", text(&user, "/email")));
    } else {
        output::line(&format!(
            "The second factor of {} is removed, and the sessions of the account have ended.",
            text(&user, "/email")
        ));
    }
    Ok(())
}

pub(crate) async fn unlink(client: &Client, options: &UnlinkUser, as_json: bool) -> Result<()> {
    let user = client.user(&options.user).await?;
    let (id, provider) = (text(&user, "/id"), options.provider.trim());
    // A name of a provider has nothing that a path would have to hide.
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    if provider.is_empty() || !provider.chars().all(is_name) {
        return Err(Failure::NotFound(format!("there is no provider `{provider}`")).into());
    }
    client.delete(&format!("/api/users/{id}/providers/{provider}")).await?;
    if as_json {
        output::json(&json!({ "id": id, "provider": provider }));
    } else {
        let email = text(&user, "/email");
        output::line(&format!(
            "{email} is linked to {provider} no more, and the sessions opened by it have ended."
        ));
    }
    Ok(())
}

pub(crate) async fn unlock(client: &Client, email: &str, as_json: bool) -> Result<()> {
    let done = client.post("/local/unlock", &json!({ "email": email })).await;
    let done = done.map_err(|error| match error.downcast_ref::<Refusal>() {
        Some(refusal) if refusal.is("unknownAccount") => {
            Failure::NotFound(format!("there is no account `{}`", email.trim())).into()
        }
        _ => error,
    })?;
    if as_json {
        output::json(&done);
    } else if done.get("forgotten").and_then(Value::as_u64) == Some(0) {
        output::line(&format!("{email} had no failed sign-ins."));
    } else {
        output::line(&format!("The failed sign-ins of {email} are forgotten."));
    }
    Ok(())
}

/// The password to set, and once more to be shown if it was made here.
fn chosen(given: Option<String>) -> Result<(String, Option<String>)> {
    match given {
        Some(given) => Ok((given, None)),
        None => {
            let made = operator::random_password()?;
            Ok((made.clone(), Some(made)))
        }
    }
}

fn with_password(told: &mut Value, made: Option<String>) {
    if let (Some(password), Some(members)) = (made, told.as_object_mut()) {
        members.insert("password".to_owned(), json!(password));
    }
}

fn show_password(made: Option<&str>) {
    if let Some(password) = made {
        output::line(&format!("Password, shown this once: {password}"));
    }
}
