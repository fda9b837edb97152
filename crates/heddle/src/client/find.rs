//! Things by the names that people use.

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::ask::escaped;
use super::{Client, Query};
use crate::failure::{Failure, Refusal};

/// Number of rows beyond any list.
const ALL: usize = usize::MAX;

/// A text of a member; empty when there is none.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Whether a text has the form of an id.
pub(crate) fn is_id(text: &str) -> bool {
    let parts = [8, 4, 4, 4, 12];
    let groups: Vec<_> = text.split('-').collect();
    groups.len() == parts.len()
        && groups.iter().zip(parts).all(|(group, length)| {
            group.len() == length && group.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
}

impl Client {
    /// A thing of this list by its slug or id, if there is one.
    ///
    /// # Errors
    /// [`Refusal`], [`crate::failure::Unreachable`].
    pub(crate) async fn named_if_any(&self, list: &str, name: &str) -> Result<Option<Value>> {
        if is_id(name) {
            let found = self.get(&format!("{list}/{}", name.to_lowercase())).await;
            return match found {
                Err(error)
                    if error.downcast_ref::<Refusal>().is_some_and(|refusal| refusal.status == 404) =>
                {
                    Ok(None)
                }
                other => other.map(Some),
            };
        }
        // The search is for a part of the text; only the whole slug counts.
        let rows = self.list(list, &Query::default().with("q", name), ALL).await?;
        Ok(rows.into_iter().find(|row| text(row, "/slug") == name))
    }

    /// A workflow by its slug or id, if there is one.
    ///
    /// # Errors
    /// As [`Self::named_if_any`].
    pub(crate) async fn workflow_if_any(&self, name: &str) -> Result<Option<Value>> {
        self.named_if_any("/api/workflows", name).await
    }

    /// A workflow by its slug or id.
    ///
    /// # Errors
    /// `NotFound`; [`Refusal`], [`crate::failure::Unreachable`].
    pub(crate) async fn workflow(&self, name: &str) -> Result<Value> {
        let found = self.workflow_if_any(name).await?;
        Ok(found.ok_or_else(|| Failure::NotFound(format!("there is no workflow `{name}`")))?)
    }

    /// Path of a workflow by its slug or id.
    ///
    /// # Errors
    /// As [`Self::workflow`].
    pub(crate) async fn workflow_path(&self, name: &str) -> Result<String> {
        Ok(format!("/api/workflows/{}", text(&self.workflow(name).await?, "/id")))
    }

    /// Path of a run by its id, of this workflow or of whichever has it.
    ///
    /// # Errors
    /// `Refused` for a text that is no id, `NotFound`; [`Refusal`], [`crate::failure::Unreachable`].
    pub(crate) async fn run_path(&self, run: &str, workflow: Option<&str>) -> Result<String> {
        if !is_id(run) {
            return Err(Failure::Refused(format!("`{run}` is no run's id")).into());
        }
        let workflows = match workflow {
            Some(name) => vec![self.workflow(name).await?],
            None => self.list("/api/workflows", &Query::default(), ALL).await?,
        };
        for workflow in workflows {
            let path = format!("/api/workflows/{}/runs/{}", text(&workflow, "/id"), run.to_lowercase());
            match self.get(&path).await {
                Ok(_) => return Ok(path),
                Err(error)
                    if error.downcast_ref::<Refusal>().is_some_and(|refusal| refusal.status == 404) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Failure::NotFound(format!("there is no run `{run}`")).into())
    }

    /// A human task by its id, among those of a run or all open ones.
    ///
    /// # Errors
    /// `NotFound`; [`Refusal`], [`crate::failure::Unreachable`].
    pub(crate) async fn task(&self, id: &str, run: Option<&str>) -> Result<Value> {
        let query = Query::default().with("state", "open").maybe("runId", run);
        let rows = self.list("/api/human-tasks", &query, ALL).await?;
        let found = rows.into_iter().find(|row| text(row, "/id").eq_ignore_ascii_case(id));
        Ok(found.ok_or_else(|| Failure::NotFound(format!("there is no open human task `{id}`")))?)
    }

    /// A user by their e-mail address or id, if there is one.
    ///
    /// # Errors
    /// [`Refusal`], [`crate::failure::Unreachable`].
    pub(crate) async fn user_if_any(&self, name: &str) -> Result<Option<Value>> {
        let name = name.trim().to_lowercase();
        if is_id(&name) {
            return self.get(&format!("/api/users/{name}")).await.map(Some);
        }
        let rows = self.list("/api/users", &Query::default().with("q", &name), ALL).await?;
        Ok(rows.into_iter().find(|row| text(row, "/email") == name))
    }

    /// A user by their e-mail address or id.
    ///
    /// # Errors
    /// `NotFound`; [`Refusal`], [`crate::failure::Unreachable`].
    pub(crate) async fn user(&self, name: &str) -> Result<Value> {
        let found = self.user_if_any(name).await?;
        Ok(found
            .ok_or_else(|| Failure::NotFound(format!("there is no user `{name}` in the organisation")))?)
    }

    /// A group by its name or id.
    ///
    /// # Errors
    /// `NotFound`; [`Refusal`], [`crate::failure::Unreachable`].
    pub(crate) async fn group(&self, name: &str) -> Result<Value> {
        if is_id(name) {
            return self.get(&format!("/api/groups/{}", name.to_lowercase())).await;
        }
        let rows = self.list("/api/groups", &Query::default().with("q", name), ALL).await?;
        let found = rows.into_iter().find(|row| text(row, "/name") == name);
        Ok(found
            .ok_or_else(|| Failure::NotFound(format!("there is no group `{name}` in the organisation")))?)
    }

    /// Slug of the organisation in which the command works.
    ///
    /// # Errors
    /// [`Refusal`], [`crate::failure::Unreachable`].
    pub(crate) async fn organization(&self) -> Result<String> {
        let session = self.get("/api/auth/session").await?;
        let id = text(&session, "/organizationId");
        let mut own = session.get("organizations").and_then(Value::as_array).into_iter().flatten();
        let found = own.find(|one| text(one, "/id") == id);
        found.map(|one| text(one, "/slug").to_owned()).context("the account is in no organisation")
    }

    /// Id of an organisation of the caller by its slug.
    ///
    /// # Errors
    /// `NotFound`; [`Refusal`], [`crate::failure::Unreachable`].
    pub(crate) async fn organization_of(&self, slug: &str) -> Result<String> {
        let session = self.get("/api/auth/session").await?;
        let mut own = session.get("organizations").and_then(Value::as_array).into_iter().flatten();
        let found = own.find(|one| text(one, "/slug") == slug);
        let missing = || Failure::NotFound(format!("the caller does not belong to `{slug}`"));
        Ok(found.map(|one| text(one, "/id").to_owned()).ok_or_else(missing)?)
    }

    /// Path of a connection by its name or id.
    ///
    /// # Errors
    /// `NotFound`; [`Refusal`], [`crate::failure::Unreachable`].
    pub(crate) async fn connection_path(&self, name: &str) -> Result<String> {
        if is_id(name) {
            return Ok(format!("/api/connections/{}", name.to_lowercase()));
        }
        // The search is for a part of the text; only the whole name counts.
        let rows = self.list("/api/connections", &Query::default().with("q", name), ALL).await?;
        let found = rows.into_iter().find(|row| text(row, "/name") == name);
        let found = found.ok_or_else(|| Failure::NotFound(format!("there is no connection `{name}`")))?;
        Ok(format!("/api/connections/{}", text(&found, "/id")))
    }

    /// Path of a dead letter.
    ///
    /// # Errors
    /// `Refused` for a text that is no id.
    pub(crate) fn letter_path(&self, id: &str) -> Result<String> {
        if !is_id(id) {
            return Err(Failure::Refused(format!("`{id}` is no dead letter's id")).into());
        }
        Ok(format!("/api/dead-letters/{}", escaped(id)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_told_from_a_slug() {
        for (text, id) in [
            ("018f0000-0000-7000-8000-000000000001", true),
            ("018F0000-0000-7000-8000-00000000000A", true),
            ("no-id", false),
            ("018f0000-0000-7000-8000-00000000000g", false),
        ] {
            assert_eq!(is_id(text), id, "{text}");
        }
    }
}
