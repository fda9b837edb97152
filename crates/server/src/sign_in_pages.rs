//! Pages of sign-in by providers: a browser is led through it, and its user reads no JSON.

use heddle_api::ApiError;
use heddle_kernel::RequestId;

/// Media type of the pages.
pub(crate) const HTML: &str = "text/html";
/// Beginning of the paths at which failures are pages for who takes them.
pub(crate) const PATHS: &str = "/api/auth/oidc/";

/// A failure as a page.
#[must_use]
pub(crate) fn failure(error: &ApiError, id: &RequestId) -> String {
    let mut told: Vec<String> = error.details.iter().map(|detail| escaped(&detail.message)).collect();
    if told.is_empty() {
        told.push(escaped(&error.message));
    }
    let told = told.iter().map(|sentence| format!("<p>{sentence}</p>")).collect::<String>();
    let id = escaped(id.as_str());
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Sign-in</title>\
         <style>body{{font-family:sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}}</style></head>\
         <body><h1>You are not signed in</h1>{told}<p><a href=\"/\">Begin again</a></p>\
         <p><small>Request {id}</small></p></body></html>"
    )
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use heddle_api::{Detail, ErrorCode};

    use super::*;

    #[test]
    fn what_is_told_is_text_and_nothing_else() {
        let detail = Detail::new("wrongFormat", "<script>alert('1')</script> & \"more\"");
        let error = ApiError::because(ErrorCode::InvalidRequestBody, detail);
        let id = RequestId::from_caller("request-1").unwrap();
        let page = failure(&error, &id);
        assert!(!page.contains("<script") && page.contains("&lt;script&gt;"), "{page}");
        assert!(page.contains("&quot;more&quot;") && page.contains("request-1"), "{page}");
    }
}
