//! Facts for the line with which a server begins.

use heddle_installation::stores;

use crate::app::App;

/// Facts about a service that has just been composed.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Place of the database, without user and password.
    pub database: String,
    /// Number of migrations that the database holds.
    pub migrations: usize,
    /// State of the licence, with its end or the reason of its restriction.
    pub licence: String,
    /// Warning about the licence, once its end is near, has come, or is past.
    pub warning: Option<String>,
}

/// Looks at a composed service; asks no database.
#[must_use]
pub fn summary(app: &App) -> Summary {
    let licence = app.identity.licence_state();
    let state = licence.state.as_str();
    let shown = match (licence.restriction(), licence.claims.as_deref()) {
        (Some(reason), _) => format!("{state} ({reason})"),
        (None, Some(claims)) => format!("{state}, ends {}", claims.exp),
        (None, None) => state.to_owned(),
    };
    Summary {
        database: app.db.place(),
        migrations: stores::migrations().names().len(),
        licence: shown,
        warning: app.identity.pressing_warning(),
    }
}
