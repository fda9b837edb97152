//! Frames of a stream: bytes in, in whatever pieces; the data of events or the lines out, whole.

use bytes::{Buf as _, Bytes, BytesMut};

use crate::bounds::MAX_FRAME;
use crate::error::AnswerFault;

/// Marks by which frames are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events: the data of each event is a frame.
    Events,
    /// A JSON text on each line.
    Lines,
}

/// Bytes that have come and are no whole frame yet.
pub(crate) struct Frames {
    framing: Framing,
    buffer: BytesMut,
    /// Bytes of the buffer in which no end of a line was found.
    scanned: usize,
    /// Whether the last line ended with a carriage return, whose line feed may be still to come.
    after_return: bool,
    /// Whether a first line has been read, before which a byte order mark may stand.
    begun: bool,
    /// Data of the event whose end has not come.
    data: Data,
}

/// Lines of an event's data.
#[derive(Default)]
enum Data {
    #[default]
    None,
    One(Bytes),
    Many(BytesMut),
}

impl Data {
    fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::One(line) => line.len(),
            Self::Many(lines) => lines.len(),
        }
    }

    fn add(&mut self, line: Bytes) {
        *self = match std::mem::take(self) {
            Self::None => Self::One(line),
            Self::One(first) => {
                let mut lines = BytesMut::from(first.as_ref());
                lines.extend_from_slice(b"\n");
                lines.extend_from_slice(&line);
                Self::Many(lines)
            }
            Self::Many(mut lines) => {
                lines.extend_from_slice(b"\n");
                lines.extend_from_slice(&line);
                Self::Many(lines)
            }
        };
    }

    fn take(&mut self) -> Option<Bytes> {
        match std::mem::take(self) {
            Self::None => None,
            Self::One(line) => Some(line),
            Self::Many(lines) => Some(lines.freeze()),
        }
        .filter(|data| !data.is_empty())
    }
}

impl Frames {
    pub(crate) fn new(framing: Framing) -> Self {
        Self {
            framing,
            buffer: BytesMut::new(),
            scanned: 0,
            after_return: false,
            begun: false,
            data: Data::None,
        }
    }

    /// Takes bytes in.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Forgets what has come.
    pub(crate) fn clear(&mut self) {
        self.buffer = BytesMut::new();
        self.scanned = 0;
        self.data = Data::None;
    }

    /// The next whole frame.
    ///
    /// # Errors
    /// `Oversized`; `Malformed` for a page or a JSON text in an event stream's place.
    pub(crate) fn next(&mut self) -> Result<Option<Bytes>, AnswerFault> {
        while let Some(line) = self.line()? {
            if let Some(frame) = self.of_line(line)? {
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }

    /// The frame that the end of the bytes closes: some servers leave the last line's end out.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub(crate) fn last(&mut self) -> Result<Option<Bytes>, AnswerFault> {
        let rest = self.buffer.split().freeze();
        self.scanned = 0;
        if !rest.is_empty()
            && let Some(frame) = self.of_line(rest)?
        {
            return Ok(Some(frame));
        }
        Ok(self.data.take())
    }

    fn line(&mut self) -> Result<Option<Bytes>, AnswerFault> {
        if self.after_return && !self.buffer.is_empty() {
            self.after_return = false;
            if self.buffer.first() == Some(&b'\n') {
                self.buffer.advance(1);
            }
        }
        let events = self.framing == Framing::Events;
        let rest = self.buffer.get(self.scanned..).unwrap_or_default();
        let end = rest.iter().position(|byte| *byte == b'\n' || (events && *byte == b'\r'));
        let length = self.scanned + end.unwrap_or(rest.len());
        if length > MAX_FRAME {
            return Err(AnswerFault::Oversized);
        }
        if end.is_none() {
            self.scanned = length;
            return Ok(None);
        }
        let line = self.buffer.split_to(length).freeze();
        self.after_return = self.buffer.first() == Some(&b'\r');
        self.buffer.advance(1);
        self.scanned = 0;
        Ok(Some(line))
    }

    /// The frame that a line completes.
    fn of_line(&mut self, mut line: Bytes) -> Result<Option<Bytes>, AnswerFault> {
        if !std::mem::replace(&mut self.begun, true) && line.starts_with(b"\xef\xbb\xbf") {
            line.advance(3);
        }
        if self.framing == Framing::Lines {
            return Ok(Some(line).filter(|line| !line.trim_ascii().is_empty()));
        }
        if line.is_empty() {
            return Ok(self.data.take());
        }
        if matches!(line.first(), Some(b'{' | b'[' | b'<')) {
            return Err(AnswerFault::Malformed);
        }
        if let Some(mut data) = line.strip_prefix(b"data").map(|rest| line.slice_ref(rest)) {
            match data.first() {
                None => {}
                Some(b':') => data.advance(1),
                Some(_) => return Ok(None),
            }
            if data.first() == Some(&b' ') {
                data.advance(1);
            }
            if self.data.len() + data.len() > MAX_FRAME {
                return Err(AnswerFault::Oversized);
            }
            self.data.add(data);
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(framing: Framing, pieces: &[&[u8]]) -> Result<Vec<String>, AnswerFault> {
        let mut frames = Frames::new(framing);
        let mut out = Vec::new();
        for piece in pieces {
            frames.push(piece);
            while let Some(frame) = frames.next()? {
                out.push(String::from_utf8_lossy(&frame).into_owned());
            }
        }
        if let Some(frame) = frames.last()? {
            out.push(String::from_utf8_lossy(&frame).into_owned());
        }
        Ok(out)
    }

    #[test]
    fn every_cut_of_a_stream_gives_the_same_frames() {
        let stream = "\u{feff}: hello\r\ndata: one\r\n\r\nevent: x\rdata:two\rdata: 2\r\rid: 1\ndata\n\ndata: é\n\ndatas: no\n\ndata: [DONE]";
        let whole = read(Framing::Events, &[stream.as_bytes()]).unwrap();
        assert_eq!(whole, ["one", "two\n2", "é", "[DONE]"]);
        for cut in 0..=stream.len() {
            let (first, second) = stream.as_bytes().split_at(cut);
            assert_eq!(read(Framing::Events, &[first, second]).unwrap(), whole, "cut at {cut}");
        }
        let single: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
        assert_eq!(read(Framing::Events, &single).unwrap(), whole);
    }

    #[test]
    fn lines_are_frames_and_blank_ones_are_none() {
        let lines = read(Framing::Lines, &[b"{\"a\":1}\r\n\n{\"b\"", b":2}\n{\"c\":3}"]).unwrap();
        assert_eq!(lines, ["{\"a\":1}\r", "{\"b\":2}", "{\"c\":3}"]);
    }

    #[test]
    fn frames_beyond_the_bound_and_pages_in_a_streams_place_are_refused() {
        let long = vec![b'a'; MAX_FRAME + 1];
        assert_eq!(read(Framing::Events, &[b"data: ", &long]), Err(AnswerFault::Oversized));
        assert_eq!(read(Framing::Lines, &[&long]), Err(AnswerFault::Oversized));
        let half = vec![b'a'; MAX_FRAME / 2 + 1];
        let pieces: [&[u8]; 5] = [b"data: ", &half, b"\ndata: ", &half, b"\n\n"];
        assert_eq!(read(Framing::Events, &pieces), Err(AnswerFault::Oversized));
        assert_eq!(read(Framing::Events, &[b"{\"error\":{}}"]), Err(AnswerFault::Malformed));
        assert_eq!(read(Framing::Events, &[b"<html>\n"]), Err(AnswerFault::Malformed));
    }
}
