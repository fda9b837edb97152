//! Documents: JSON as bytes behind one prefix byte, compressed when it is long.

use std::borrow::Cow;
use std::cell::RefCell;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;

const RAW: u8 = 0;
const ZSTD: u8 = 1;
/// Longer documents are compressed, in bytes.
const THRESHOLD: usize = 1024;
/// Level of compression.
const LEVEL: i32 = 3;
/// No document is longer than this when unpacked: damaged bytes must not take all memory.
const LARGEST: usize = 256 << 20;

/// A document's bytes: `0` and the JSON, or `1` and its zstd frame.
///
/// # Errors
/// When the value has no JSON form.
pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    let mut out = vec![RAW];
    serde_json::to_writer(&mut out, value).map_err(|e| damaged(&e))?;
    if out.len() <= THRESHOLD {
        return Ok(out);
    }
    let packed = PACKER.with_borrow_mut(|packer| pack(packer, out.get(1..).unwrap_or_default()));
    let packed = packed.map_err(|e| damaged(&e))?;
    Ok(if packed.len() < out.len() { packed } else { out })
}

thread_local! {
    /// Packer of this thread: its tables cost more to make than a usual document to pack.
    static PACKER: RefCell<Option<zstd::bulk::Compressor<'static>>> = const { RefCell::new(None) };
}

/// The frame of a text behind its prefix byte.
fn pack(packer: &mut Option<zstd::bulk::Compressor<'static>>, json: &[u8]) -> std::io::Result<Vec<u8>> {
    let packer = match packer {
        Some(packer) => packer,
        None => packer.insert(zstd::bulk::Compressor::new(LEVEL)?),
    };
    let frame = packer.compress(json)?;
    let mut packed = Vec::with_capacity(frame.len() + 1);
    packed.push(ZSTD);
    packed.extend_from_slice(&frame);
    Ok(packed)
}

/// A document from its bytes.
///
/// # Errors
/// When the bytes are damaged or hold another shape.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    decode_sized(bytes).map(|(value, _)| value)
}

/// A document from its bytes, and the length of its JSON in bytes: what is stored may be far less.
///
/// # Errors
/// As [`decode`].
pub fn decode_sized<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, usize), Error> {
    let json = unpacked(bytes)?;
    Ok((serde_json::from_slice(&json).map_err(|e| damaged(&e))?, json.len()))
}

/// The JSON of a document, as it was made.
///
/// # Errors
/// When the bytes are damaged.
pub fn text(bytes: &[u8]) -> Result<String, Error> {
    String::from_utf8(unpacked(bytes)?.into_owned()).map_err(|e| damaged(&e))
}

fn damaged(error: &dyn std::fmt::Display) -> Error {
    Error::Document(error.to_string())
}

fn unpacked(bytes: &[u8]) -> Result<Cow<'_, [u8]>, Error> {
    match bytes.split_first() {
        Some((&RAW, json)) => Ok(Cow::Borrowed(json)),
        Some((&ZSTD, packed)) => {
            use std::io::Read;
            let unpacker = zstd::stream::Decoder::new(packed).map_err(|e| damaged(&e))?;
            let mut json = Vec::with_capacity(packed.len() * 4);
            unpacker.take(LARGEST as u64 + 1).read_to_end(&mut json).map_err(|e| damaged(&e))?;
            if json.len() > LARGEST {
                return Err(Error::Document("longer than a document may be".to_owned()));
            }
            Ok(Cow::Owned(json))
        }
        _ => Err(Error::Document("unknown kind of document".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn short_ones_stay_plain_and_long_ones_are_packed() {
        for (value, prefix) in [
            (json!(null), RAW),
            (json!({"a": "ä", "b": [1, 2.5, null]}), RAW),
            (json!("x".repeat(5000)), ZSTD),
        ] {
            let bytes = encode(&value).unwrap();
            assert_eq!(bytes[0], prefix);
            assert_eq!(decode::<Value>(&bytes).unwrap(), value);
            assert_eq!(text(&bytes).unwrap(), value.to_string());
        }
        assert!(encode(&"x".repeat(5000)).unwrap().len() < 100);
    }

    #[test]
    fn damaged_bytes_are_an_error() {
        let packed = encode(&"x".repeat(5000)).unwrap();
        for bytes in [&b""[..], b"\0", b"\0{", b"\x01", b"\x07{}", &packed[..packed.len() - 3]] {
            assert!(matches!(decode::<Value>(bytes), Err(Error::Document(_))), "{bytes:?}");
        }
    }
}
