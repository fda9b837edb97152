//! `heddle token`.

use anyhow::Result;
use serde_json::{Value, json};

use crate::cli::{CreateToken, DeleteToken, ListTokens};
use crate::client::{Client, Query, is_id, text};
use crate::failure::Failure;
use crate::output;

pub(crate) async fn create(client: &Client, options: &CreateToken, as_json: bool) -> Result<()> {
    let mut body = json!({ "name": options.name });
    if let Some(members) = body.as_object_mut() {
        if let Some(end) = &options.expires {
            members.insert("expiresAt".to_owned(), json!(end));
        }
        if !options.permissions.is_empty() {
            members.insert("permissions".to_owned(), json!(options.permissions));
        }
        if let Some(service) = &options.service {
            let service = client.user(service).await?;
            members.insert("userId".to_owned(), json!(text(&service, "/id")));
        }
        if let Some(slug) = &options.place.organization {
            members.insert("organizationId".to_owned(), json!(client.organization_of(slug).await?));
        }
    }
    let made = client.post("/api/auth/tokens", &body).await?;
    if as_json {
        output::json(&made);
        return Ok(());
    }
    let until = made.pointer("/record/expiresAt").and_then(Value::as_str);
    let until = until.map_or_else(|| "for ever".to_owned(), |end| format!("until {end}"));
    output::note(&format!("The token `{}` holds {until}. It is shown this once:", options.name));
    output::line(text(&made, "/token"));
    Ok(())
}

/// The query that names a service account; none asks about the caller.
async fn about(client: &Client, service: Option<&str>) -> Result<Query> {
    let Some(service) = service else { return Ok(Query::default()) };
    let service = client.user(service).await?;
    Ok(Query::default().with("userId", text(&service, "/id")))
}

pub(crate) async fn list(client: &Client, options: &ListTokens, as_json: bool) -> Result<()> {
    let query = about(client, options.service.as_deref()).await?;
    let rows = client.list("/api/auth/tokens", &query, usize::MAX).await?;
    if as_json {
        output::json(&json!({ "tokens": rows }));
        return Ok(());
    }
    let cells = |row: &Value| {
        let permissions = row
            .get("permissions")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","));
        let or =
            |name: &str, other: &str| row.pointer(name).and_then(Value::as_str).unwrap_or(other).to_owned();
        [
            or("/name", ""),
            or("/expiresAt", "never"),
            or("/lastUsedAt", "never"),
            permissions.unwrap_or_else(|| "all".to_owned()),
            or("/id", ""),
        ]
    };
    output::table(
        ["NAME", "ENDS", "LAST USED", "PERMISSIONS", "ID"],
        &rows.iter().map(cells).collect::<Vec<_>>(),
    );
    Ok(())
}

pub(crate) async fn delete(client: &Client, options: &DeleteToken, as_json: bool) -> Result<()> {
    let query = about(client, options.service.as_deref()).await?;
    let id = if is_id(&options.token) {
        options.token.clone()
    } else {
        let rows = client.list("/api/auth/tokens", &query, usize::MAX).await?;
        let found = rows.iter().find(|row| text(row, "/name") == options.token);
        let missing = || Failure::NotFound(format!("the account has no token `{}`", options.token));
        found.map(|row| text(row, "/id").to_owned()).ok_or_else(missing)?
    };
    client.delete_with(&format!("/api/auth/tokens/{id}"), &query).await?;
    if as_json {
        output::json(&json!({ "id": id, "deleted": true }));
    } else {
        output::line("Deleted: it is refused from now on.");
    }
    Ok(())
}
