//! Bounds of what is read.

use crate::error::WireError;

/// Levels of nesting in a request's JSON.
pub const MAX_DEPTH: usize = 96;

/// Bytes of one frame of a stream: pictures come in one.
pub const MAX_FRAME: usize = 16 * 1024 * 1024;

/// Bytes of a whole answer that is no stream.
pub const MAX_ANSWER: usize = 64 * 1024 * 1024;

/// Members of a request's body.
pub(crate) const MAX_MEMBERS: usize = 128;

/// Refuses JSON text that nests deeper than [`MAX_DEPTH`]: one pass over the bytes, nothing is built.
pub(crate) fn check_depth(json: &[u8]) -> Result<(), WireError> {
    let mut depth = 0usize;
    let mut within = false;
    let mut escaped = false;
    for byte in json {
        if within {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => within = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => within = true,
            b'{' | b'[' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(WireError::member("", "nests deeper than 96 levels"));
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}
