//! Packed bodies, unpacked within a bound.

use std::io::{self, Write};

use flate2::write::{MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;

use crate::Fault;

/// Number of packed bytes that are unpacked at a time: they give a thousand times as many at most.
const STEP: usize = 4096;

/// Decoder of a body.
pub(crate) struct Decoder {
    form: Form,
    began: bool,
    limit: u64,
}

enum Form {
    Gzip(MultiGzDecoder<Sink>),
    Zlib(ZlibDecoder<Sink>),
}

/// Unpacked bytes, up to a bound over all of them.
struct Sink {
    bytes: Vec<u8>,
    left: u64,
    is_over: bool,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.left.checked_sub(bytes.len() as u64) {
            Some(left) => self.left = left,
            None => {
                self.is_over = true;
                return Err(io::Error::other("the bound is reached"));
            }
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Decoder {
    /// Decoder for an answer; `None` when it is not packed.
    ///
    /// # Errors
    /// `BadEncoding` for a form that we can't unpack.
    pub(crate) fn of(headers: &HeaderMap, limit: u64) -> Result<Option<Self>, Fault> {
        let mut named = headers
            .get_all(CONTENT_ENCODING)
            .iter()
            .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
            .map(<[u8]>::trim_ascii)
            .filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(b"identity"));
        let Some(name) = named.next() else { return Ok(None) };
        if named.next().is_some() {
            return Err(Fault::BadEncoding("it is packed more than once"));
        }
        let sink = Sink { bytes: Vec::new(), left: limit, is_over: false };
        let form = if name.eq_ignore_ascii_case(b"gzip") || name.eq_ignore_ascii_case(b"x-gzip") {
            Form::Gzip(MultiGzDecoder::new(sink))
        } else if name.eq_ignore_ascii_case(b"deflate") {
            Form::Zlib(ZlibDecoder::new(sink))
        } else {
            return Err(Fault::BadEncoding(
                "it is neither gzip nor deflate, which is all that was asked for",
            ));
        };
        Ok(Some(Self { form, began: false, limit }))
    }

    /// Unpacks some bytes.
    ///
    /// # Errors
    /// `UnpackedTooLarge`, `BadEncoding`.
    pub(crate) fn unpack(&mut self, packed: &[u8]) -> Result<Vec<u8>, Fault> {
        self.began |= !packed.is_empty();
        for step in packed.chunks(STEP) {
            let ended = match &mut self.form {
                Form::Gzip(decoder) => decoder.write_all(step).and_then(|()| decoder.flush()),
                Form::Zlib(decoder) => decoder.write_all(step).and_then(|()| decoder.flush()),
            };
            ended.map_err(|_reason| self.fault())?;
        }
        Ok(self.taken())
    }

    /// The last bytes.
    ///
    /// # Errors
    /// As [`Self::unpack`]; also when the packed bytes are not whole.
    pub(crate) fn finish(&mut self) -> Result<Vec<u8>, Fault> {
        // An answer without a body (to HEAD, 304) has the header all the same.
        if !self.began {
            return Ok(Vec::new());
        }
        let ended = match &mut self.form {
            Form::Gzip(decoder) => decoder.try_finish(),
            Form::Zlib(decoder) => decoder.try_finish(),
        };
        ended.map_err(|_reason| self.fault())?;
        Ok(self.taken())
    }

    fn sink(&mut self) -> &mut Sink {
        match &mut self.form {
            Form::Gzip(decoder) => decoder.get_mut(),
            Form::Zlib(decoder) => decoder.get_mut(),
        }
    }

    fn taken(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.sink().bytes)
    }

    fn fault(&mut self) -> Fault {
        let limit = self.limit;
        if self.sink().is_over { Fault::UnpackedTooLarge(limit) } else { Fault::BadEncoding("it is broken") }
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn decoder(form: &'static str, limit: u64) -> Result<Option<Decoder>, Fault> {
        let headers = HeaderMap::from_iter([(CONTENT_ENCODING, form.parse().unwrap())]);
        Decoder::of(&headers, limit)
    }

    fn unpacked(form: &'static str, packed: &[u8], limit: u64) -> Result<Vec<u8>, Fault> {
        let mut decoder = decoder(form, limit).unwrap().unwrap();
        let mut all = Vec::new();
        for part in packed.chunks(7) {
            all.extend(decoder.unpack(part)?);
        }
        all.extend(decoder.finish()?);
        Ok(all)
    }

    #[test]
    fn what_was_packed_comes_back() {
        let text = b"a text that repeats, that repeats, that repeats".repeat(100);
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(&text).unwrap();
        let two = [gzip(&text), gzip(b"and more")].concat();
        assert_eq!(unpacked("gzip", &gzip(&text), 1 << 20).unwrap(), text);
        assert_eq!(unpacked("X-GZIP", &two, 1 << 20).unwrap(), [text.as_slice(), b"and more"].concat());
        assert_eq!(unpacked("deflate", &zlib.finish().unwrap(), 1 << 20).unwrap(), text);
        assert_eq!(unpacked("gzip", b"", 1 << 20).unwrap(), b"", "an answer without a body");
        assert!(decoder("identity", 1).unwrap().is_none());
    }

    #[test]
    fn bombs_broken_bodies_and_other_forms_are_refused() {
        let bomb = gzip(&vec![0; 8 << 20]);
        assert!(bomb.len() < 10_000);
        assert!(
            matches!(unpacked("gzip", &bomb, 1 << 20), Err(Fault::UnpackedTooLarge(limit)) if limit == 1 << 20)
        );
        let whole = gzip(b"a text");
        let cut = &whole[..whole.len() - 3];
        let mut flipped = whole.clone();
        flipped[whole.len() - 6] ^= 1;
        for packed in [cut, &flipped, b"no gzip at all"] {
            assert!(matches!(unpacked("gzip", packed, 1 << 20), Err(Fault::BadEncoding(_))), "{packed:?}");
        }
        for form in ["br", "zstd", "gzip, gzip", "gzip,deflate", "compress"] {
            assert!(matches!(decoder(form, 1), Err(Fault::BadEncoding(_))), "{form}");
        }
    }
}
