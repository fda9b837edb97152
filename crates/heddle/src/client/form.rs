//! Forms with files, as `multipart/form-data` (RFC 7578) has them.

use std::fmt::Write as _;

/// A form in the making.
#[derive(Debug)]
pub(crate) struct Form {
    boundary: String,
    bytes: Vec<u8>,
}

impl Default for Form {
    fn default() -> Self {
        // A text of the process, the instant and a place in memory: no file has it, and where one did the service would
        // tell that the form does not read.
        let at = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let mut boundary = format!("heddle-{:x}-{:x}", std::process::id(), at.as_nanos());
        let seed = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), at);
        // Writing to a String can't fail.
        let _ = write!(boundary, "-{seed:016x}");
        Self { boundary, bytes: Vec::new() }
    }
}

impl Form {
    /// Adds a file.
    pub(crate) fn file(&mut self, name: &str, media_type: Option<&str>, content: &[u8]) {
        let media_type = media_type.unwrap_or("application/octet-stream");
        let disposition = format!("form-data; name=\"file\"; filename=\"{}\"", quoted(name));
        self.part(&disposition, Some(media_type), content);
    }

    /// Adds a text.
    pub(crate) fn text(&mut self, name: &str, text: &str) {
        self.part(&format!("form-data; name=\"{}\"", quoted(name)), None, text.as_bytes());
    }

    fn part(&mut self, disposition: &str, media_type: Option<&str>, content: &[u8]) {
        let mut head = format!("--{}\r\ncontent-disposition: {disposition}\r\n", self.boundary);
        if let Some(media_type) = media_type {
            let _ = write!(head, "content-type: {media_type}\r\n");
        }
        self.bytes.extend_from_slice(head.as_bytes());
        self.bytes.extend_from_slice(b"\r\n");
        self.bytes.extend_from_slice(content);
        self.bytes.extend_from_slice(b"\r\n");
    }

    /// Content type and bytes.
    pub(super) fn into_parts(mut self) -> (String, Vec<u8>) {
        self.bytes.extend_from_slice(format!("--{}--\r\n", self.boundary).as_bytes());
        (format!("multipart/form-data; boundary={}", self.boundary), self.bytes)
    }
}

/// A text within quotes (RFC 7578, 4.2, and the encoding that browsers use).
fn quoted(text: &str) -> String {
    text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_its_parts_between_boundaries_and_a_name_ends_none_of_them() {
        let mut form = Form::default();
        form.file("a\"\r\nx.txt", Some("text/plain"), b"abc");
        form.text("title", "A");
        let boundary = form.boundary.clone();
        let (media, bytes) = form.into_parts();
        assert_eq!(media, format!("multipart/form-data; boundary={boundary}"));
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text.matches(&format!("--{boundary}")).count(), 3);
        assert!(text.contains("filename=\"a%22%0D%0Ax.txt\"\r\ncontent-type: text/plain\r\n\r\nabc\r\n"));
        assert!(text.ends_with(&format!("--{boundary}--\r\n")));
        assert_ne!(Form::default().boundary, boundary);
    }
}
