//! The API pages: Swagger UI out of the program itself, no other host is asked.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
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
    let bytes = match file.bytes {
        page if name == "index.html" => below_docs(page.into_owned())?.into(),
        // A part of the program is handed out as it is, however many readers are slow.
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    };
    let content = Content::Bytes(bytes, file.content_type.clone());
    let headers = vec![("content-security-policy", POLICY.to_owned())];
    Some(Response { status: 200, headers, content })
}

/// The page itself is served at `/docs`, its files below it.
fn below_docs(page: Vec<u8>) -> Option<String> {
    let page = String::from_utf8(page).ok()?;
    let page = page.replace("href=\"./", "href=\"/docs/").replace("src=\"./", "src=\"/docs/");
    Some(page.replace("href=\"index.css\"", "href=\"/docs/index.css\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_loads_nothing_from_elsewhere() {
        let Some(Response { content: Content::Bytes(bytes, _), .. }) = page("index.html") else {
            panic!("no page")
        };
        let text = String::from_utf8(bytes.into()).unwrap();
        assert!(text.contains("/docs/swagger-ui-bundle.js") && !text.contains("\"./"), "{text}");
        assert!(!text.contains("https://"), "{text}");
        assert!(page("swagger-ui-bundle.js").is_some() && page("no-such-file").is_none());
    }
}
