//! Protocol of parent and child, over the child's standard input and output.
//!
//! To the child: the length of the request (u32, little-endian), the [`Request`](crate::Request) as JSON, the length of
//! the file (u64, little-endian), and the file. From the child: the length of the answer (u32, little-endian) and the
//! answer as JSON, `{"Ok": Document}` or `{"Err": ExtractError}`; then its output ends.

use std::io::{self, Read, Write};

/// Bytes of a request.
const LONGEST_REQUEST: u32 = 64 << 10;

/// Writes a frame.
pub(crate) fn write_frame(to: &mut impl Write, content: &[u8]) -> io::Result<()> {
    let length = u32::try_from(content.len()).map_err(|_long| too_long("frame"))?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(content)
}

/// Reads a request's frame.
pub(crate) fn read_request(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > LONGEST_REQUEST {
        return Err(too_long("request"));
    }
    read_exactly(from, u64::from(length))
}

/// Reads a length of 64 bits.
pub(crate) fn read_length(from: &mut impl Read) -> io::Result<u64> {
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    Ok(u64::from_le_bytes(length))
}

/// Reads so many bytes, and asks for memory as they come.
pub(crate) fn read_exactly(from: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    from.take(length).read_to_end(&mut content)?;
    if (content.len() as u64) < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(content)
}

/// The content of an answer: a whole frame and nothing after it.
pub(crate) fn answer(bytes: &[u8]) -> Option<&[u8]> {
    let (length, content) = bytes.split_at_checked(4)?;
    let length = u32::from_le_bytes(length.try_into().ok()?);
    (content.len() as u64 == u64::from(length)).then_some(content)
}

fn too_long(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the {what} is too long"))
}
