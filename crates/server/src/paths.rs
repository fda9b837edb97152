//! Paths: what answers at the path of a request. Each path stands in a tree of segments, so that finding one takes as long
//! as reading it, whatever their number.

use actix_web::http::Method as HttpMethod;
use heddle_api::operations::{Method, OperationId, OperationSpec};
use matchit::Router;

use crate::bind::Handler;
use crate::routes;

/// Path of the document of what clients of other products call: a page for readers, no operation of its own.
const COMPATIBILITY: &str = "/openapi-compatibility.json";
/// Name of the file in the path of a file of the page at `/docs`.
pub(crate) const FILE: &str = "file";

/// An operation with its handler.
pub(crate) struct Row {
    pub(crate) spec: &'static OperationSpec,
    pub(crate) handler: Handler,
}

/// Operations of one path, of which each has another method.
pub(crate) struct Rows {
    rows: Vec<Row>,
    /// Methods of the path, as `Allow` names them.
    pub(crate) allow: String,
}

impl Rows {
    fn of_path(path: &str) -> Self {
        let ids = OperationId::ALL.iter().copied().filter(|id| id.spec().path == path);
        let rows: Vec<Row> = ids.map(|id| Row { spec: id.spec(), handler: routes::handler(id) }).collect();
        let mut methods: Vec<&str> = rows.iter().map(|row| row.spec.method.as_str()).collect();
        if methods.contains(&"GET") {
            methods.push("HEAD");
        }
        let allow = methods.join(", ");
        Self { rows, allow }
    }

    /// The operation of a method; a `HEAD` is a `GET` of which nobody reads the body.
    pub(crate) fn of(&self, method: &HttpMethod) -> Option<&Row> {
        let method = match *method {
            HttpMethod::GET | HttpMethod::HEAD => Method::Get,
            HttpMethod::POST => Method::Post,
            HttpMethod::PUT => Method::Put,
            HttpMethod::PATCH => Method::Patch,
            HttpMethod::DELETE => Method::Delete,
            _ => return None,
        };
        self.rows.iter().find(|row| row.spec.method == method)
    }
}

/// A page beside the operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    /// The document of what clients of other products call.
    Compatibility,
    /// The way to the pages, for whoever opens the service in a browser.
    Lead,
    /// A file of the page at `/docs`: a part of one operation, not one of its own.
    DocsFile,
}

/// Place of a path: all that answers there.
pub(crate) enum Place {
    /// Operations, by their methods.
    Operations(Rows),
    /// A page, to be read.
    Page(Page),
}

/// Place of a path, with what the path says.
pub(crate) struct Found<'a> {
    pub(crate) place: &'a Place,
    /// Template of the path, for the log.
    pub(crate) route: &'static str,
    /// The path's parameters.
    pub(crate) path: Vec<(String, String)>,
}

/// All paths.
pub(crate) struct Paths {
    tree: Router<(&'static str, Place)>,
}

impl Paths {
    /// Paths of every row of the operations table, and of the pages; `docs` where the API is shown.
    ///
    /// # Panics
    /// When two rows have paths that can't be told apart, which a test would have met.
    pub(crate) fn new(docs: bool) -> Self {
        let mut tree = Router::new();
        let mut put = |path: &'static str, place: Place| {
            let put = tree.insert(path, (path, place));
            assert!(put.is_ok(), "{path} can't be told from another path: {put:?}");
        };
        let mut paths: Vec<&'static str> = OperationId::ALL.iter().map(|id| id.spec().path).collect();
        paths.sort_unstable();
        paths.dedup();
        for path in paths {
            put(path, Place::Operations(Rows::of_path(path)));
        }
        put(COMPATIBILITY, Place::Page(Page::Compatibility));
        if docs {
            put("/", Place::Page(Page::Lead));
            put("/docs/", Place::Page(Page::Lead));
            put("/docs/{file}", Place::Page(Page::DocsFile));
        }
        Self { tree }
    }

    /// The place of a path, if there is one: a literal segment counts before a parameter.
    pub(crate) fn find(&self, path: &str) -> Option<Found<'_>> {
        let found = self.tree.at(path).ok()?;
        let (route, place) = found.value;
        let path = found.params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Some(Found { place, route, path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(paths: &Paths, path: &str) -> Option<(&'static str, Vec<String>)> {
        let found = paths.find(path)?;
        Some((found.route, found.path.into_iter().map(|(_, value)| value).collect()))
    }

    #[test]
    fn every_row_is_found_at_its_path_with_what_stands_in_it() {
        let paths = Paths::new(true);
        for id in OperationId::ALL {
            let spec = id.spec();
            let mut values = Vec::new();
            let filled = spec.path.split('/').map(|part| match part.strip_prefix('{') {
                Some(_) => {
                    values.push(format!("some-{}", values.len()));
                    values.last().cloned().unwrap_or_default()
                }
                None => part.to_owned(),
            });
            let filled = filled.collect::<Vec<_>>().join("/");
            assert_eq!(found(&paths, &filled), Some((spec.path, values)), "{filled}");
            let Some(Found { place: Place::Operations(rows), .. }) = paths.find(&filled) else {
                panic!("{filled} is a page");
            };
            let method = HttpMethod::from_bytes(spec.method.as_str().as_bytes()).unwrap();
            assert_eq!(rows.of(&method).map(|row| row.spec.id), Some(*id));
            assert!(rows.of(&HttpMethod::TRACE).is_none());
        }
    }

    #[test]
    fn a_literal_segment_counts_before_a_parameter_and_nothing_else_is_found() {
        let paths = Paths::new(true);
        let literal = found(&paths, "/api/workflows/bpmn/conformance");
        assert_eq!(literal, Some(("/api/workflows/bpmn/conformance", vec![])));
        let named = found(&paths, "/api/workflows/bpmn/publish").unwrap();
        assert_eq!(named.1, ["bpmn"]);
        for path in
            ["", "/api", "/api/workflows/", "/api/workflows//publish", "/api//workflows", "//", "/docs/a/b"]
        {
            assert_eq!(found(&paths, path), None, "{path}");
        }
        assert_eq!(found(&paths, "/"), Some(("/", vec![])));
        assert_eq!(found(&paths, "/docs/x.js"), Some(("/docs/{file}", vec!["x.js".to_owned()])));
        assert_eq!(found(&Paths::new(false), "/"), None);
    }
}
