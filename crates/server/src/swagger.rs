//! The API pages: Swagger UI out of the program itself, no other host is asked.

use std::sync::Arc;

use utoipa_swagger_ui::{Config, Url};

use crate::reply::{Content, Response};

/// Content security policy of the pages: they load and show only what comes from here.
const POLICY: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      frame-ancestors 'none'; base-uri 'none'";

/// A file of the pages.
#[must_use]
pub(crate) fn page(name: &str) -> Option<Response> {
    let config = Config::new([
        Url::with_primary("Contract", "/openapi.json", true),
        Url::new("Platform", "/openapi-platform.json"),
    ]);
    let file = utoipa_swagger_ui::serve(name, Arc::new(config)).ok()??;
    let mut bytes = file.bytes.to_vec();
    if name == "index.html" {
        // The page is served at `/docs`, its files below it.
        let page = String::from_utf8(bytes).ok()?;
        bytes = page.replace("href=\"./", "href=\"/docs/").replace("src=\"./", "src=\"/docs/").into_bytes();
        bytes = String::from_utf8(bytes)
            .ok()?
            .replace("href=\"index.css\"", "href=\"/docs/index.css\"")
            .into_bytes();
    }
    let content = Content::Bytes(bytes, file.content_type.clone());
    let headers = vec![("content-security-policy", POLICY.to_owned())];
    Some(Response { status: 200, headers, content })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_loads_nothing_from_elsewhere() {
        let Some(Response { content: Content::Bytes(bytes, _), .. }) = page("index.html") else {
            panic!("no page")
        };
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains("/docs/swagger-ui-bundle.js") && !text.contains("\"./"), "{text}");
        assert!(!text.contains("https://"), "{text}");
        assert!(page("swagger-ui-bundle.js").is_some() && page("no-such-file").is_none());
    }
}
