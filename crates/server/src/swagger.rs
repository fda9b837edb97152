//! The API pages: Swagger UI out of the program itself, no other host is asked.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use heddle_installation::sign_ins::Offered;
use utoipa_swagger_ui::Config;

use crate::reply::{Content, Response};

/// Content security policy of the pages: they load and show only what comes from here.
const POLICY: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      object-src 'none'; frame-ancestors 'none'; base-uri 'none'";

/// Configuration of the pages, and the form for signing in above them.
const SCRIPT: &str = include_str!("swagger/pages.js");
/// Looks of that form.
const STYLE: &str = include_str!("swagger/pages.css");

/// Place in the script where the providers stand by which people may sign in.
const PROVIDERS: &str = "[/* providers */]";

/// A file of the pages.
#[must_use]
pub(crate) fn page(name: &str, offered: &[Offered]) -> Option<Response> {
    match name {
        "swagger-initializer.js" => {
            let script = SCRIPT.replace(PROVIDERS, &serde_json::to_string(offered).ok()?);
            return Some(answer(script.into(), "text/javascript; charset=utf-8"));
        }
        "heddle.css" => return Some(answer(STYLE.into(), "text/css; charset=utf-8")),
        _ => {}
    }
    // Only the script above is configured.
    let file = utoipa_swagger_ui::serve(name, Arc::new(Config::from("/openapi.json"))).ok()??;
    let bytes = match file.bytes {
        page if name == "index.html" => below_docs(page.into_owned())?.into(),
        // A part of the program is handed out as it is, however many readers are slow.
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    };
    Some(answer(bytes, &file.content_type))
}

fn answer(bytes: Bytes, media: &str) -> Response {
    let headers = vec![("content-security-policy", POLICY.to_owned())];
    Response { status: 200, headers, content: Content::Bytes(bytes, media.to_owned()) }
}

/// The page itself is served at `/docs`, its files below it.
fn below_docs(page: Vec<u8>) -> Option<String> {
    let page = String::from_utf8(page).ok()?;
    let page = page.replace("href=\"./", "href=\"/docs/").replace("src=\"./", "src=\"/docs/");
    let page = page.replace("href=\"index.css\"", "href=\"/docs/index.css\"");
    let page = page.replace("<title>Swagger UI</title>", "<title>Heddle API</title>");
    let style = "<link rel=\"stylesheet\" type=\"text/css\" href=\"/docs/heddle.css\" />";
    Some(page.replace("</head>", &format!("{style}\n  </head>")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_loads_nothing_from_elsewhere() {
        let Some(Response { content: Content::Bytes(bytes, _), .. }) = page("index.html", &[]) else {
            panic!("no page")
        };
        let text = String::from_utf8(bytes.into()).unwrap();
        assert!(text.contains("/docs/swagger-ui-bundle.js") && !text.contains("\"./"), "{text}");
        assert!(!text.contains("https://"), "{text}");
        assert!(text.contains("<title>Heddle API</title>") && text.contains("/docs/heddle.css"), "{text}");
        assert!(page("swagger-ui-bundle.js", &[]).is_some() && page("no-such-file", &[]).is_none());
    }

    #[test]
    fn the_script_offers_the_providers() {
        let display_name = "Corporate \"account\"".to_owned();
        let offered = [Offered { name: "corporate".to_owned(), display_name }];
        let Some(Response { content: Content::Bytes(bytes, _), .. }) =
            page("swagger-initializer.js", &offered)
        else {
            panic!("no script")
        };
        let text = String::from_utf8(bytes.into()).unwrap();
        let told = r#"[{"name":"corporate","displayName":"Corporate \"account\""}]"#;
        assert!(text.contains(told) && !text.contains(PROVIDERS), "{text}");
    }

    #[test]
    fn the_script_names_the_documents_and_no_other_host() {
        for word in [
            "/openapi.json",
            "/openapi-platform.json",
            "/openapi-compatibility.json",
            "/api/auth/sign-in",
            "one-time-code",
            "filter: true",
        ] {
            assert!(SCRIPT.contains(word), "{word}");
        }
        assert!(!SCRIPT.contains("://") && !STYLE.contains("://"));
    }
}
