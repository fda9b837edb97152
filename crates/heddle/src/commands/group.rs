//! `heddle group`.

use anyhow::Result;
use serde_json::{Value, json};

use crate::cli::{CreateGroup, GroupUsers, ListGroups, OneGroup};
use crate::client::{Client, Query, text};
use crate::output;

pub(crate) async fn list(client: &Client, options: &ListGroups, as_json: bool) -> Result<()> {
    let query = Query::default().maybe("q", options.search.as_deref());
    let rows = client.list("/api/groups", &query, options.limit).await?;
    if as_json {
        output::json(&json!({ "groups": rows }));
        return Ok(());
    }
    let cells = |row: &Value| {
        let roles = row.get("roles").and_then(Value::as_array).into_iter().flatten();
        let held = roles.filter(|role| text(role, "/state") == "active");
        let names: Vec<&str> = held.map(|role| text(role, "/name")).collect();
        let of = |name: &str| text(row, name).to_owned();
        [of("/name"), of("/description"), names.join(","), of("/id")]
    };
    output::table(["NAME", "DESCRIPTION", "ROLES", "ID"], &rows.iter().map(cells).collect::<Vec<_>>());
    Ok(())
}

pub(crate) async fn create(client: &Client, options: &CreateGroup, as_json: bool) -> Result<()> {
    let mut body = json!({ "name": options.name, "roles": options.roles });
    if let (Some(description), Some(members)) = (&options.description, body.as_object_mut()) {
        members.insert("description".to_owned(), json!(description));
    }
    let made = client.post("/api/groups", &body).await?;
    if as_json {
        output::json(&made);
    } else {
        output::line(&format!("Created the group {}.", text(&made, "/name")));
    }
    Ok(())
}

pub(crate) async fn members(client: &Client, options: &OneGroup, as_json: bool) -> Result<()> {
    let group = client.group(&options.group).await?;
    let query = Query::default().with("groupId", text(&group, "/id"));
    let rows = client.list("/api/members", &query, usize::MAX).await?;
    if as_json {
        output::json(&json!({ "members": rows }));
        return Ok(());
    }
    let cells =
        |row: &Value| ["/email", "/displayName", "/state", "/userId"].map(|name| text(row, name).to_owned());
    output::table(["EMAIL", "NAME", "STATE", "ID"], &rows.iter().map(cells).collect::<Vec<_>>());
    Ok(())
}

/// Lets users come into a group, or leave it, by the member of the change's body that says which.
pub(crate) async fn change(
    client: &Client,
    options: &GroupUsers,
    member: &'static str,
    as_json: bool,
) -> Result<()> {
    let group = client.group(&options.group).await?;
    let mut ids = Vec::new();
    for name in &options.users {
        ids.push(text(&client.user(name).await?, "/id").to_owned());
    }
    let changed =
        client.patch(&format!("/api/groups/{}", text(&group, "/id")), &json!({ member: ids })).await?;
    if as_json {
        output::json(&changed);
    } else {
        output::line(&format!("The group {} is changed.", text(&changed, "/name")));
    }
    Ok(())
}

pub(crate) async fn delete(client: &Client, options: &OneGroup, as_json: bool) -> Result<()> {
    let group = client.group(&options.group).await?;
    let id = text(&group, "/id");
    client.delete(&format!("/api/groups/{id}")).await?;
    if as_json {
        output::json(&json!({ "id": id, "deleted": true }));
    } else {
        output::line(&format!("Deleted the group {}.", text(&group, "/name")));
    }
    Ok(())
}
