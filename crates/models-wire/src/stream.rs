//! The reader of a stream: bytes in, chunks in OpenAI's words out.

use bytes::Bytes;
use std::fmt;

use crate::chunk::StreamEvent;
use crate::error::{AnswerFault, WireError};
use crate::family::Target;
use crate::frames::{Frames, Framing};
use crate::request::ChatRequest;
use crate::response::Answer;
use crate::spoken::StreamReader;
use crate::usage::Usage;
use crate::{anthropic, gemini, ollama, openai};

/// The push parser of a chat's stream. It holds one frame at most, and what a wire demands to be held of an answer; any
/// cut of the bytes gives the same events. After an error it gives that error again.
pub struct StreamDecoder {
    frames: Frames,
    reader: Box<dyn StreamReader>,
    state: State,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Open,
    Done,
    Failed(WireError),
}

impl fmt::Debug for StreamDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamDecoder").field("state", &self.state).finish_non_exhaustive()
    }
}

impl StreamDecoder {
    fn new(framing: Framing, reader: Box<dyn StreamReader>) -> Self {
        Self { frames: Frames::new(framing), reader, state: State::Open }
    }

    pub(crate) fn openai(target: &Target, request: &ChatRequest, answer: Answer) -> Self {
        Self::new(Framing::Events, Box::new(openai::Reader::new(target, request, answer)))
    }

    pub(crate) fn anthropic(target: &Target, request: &ChatRequest, answer: Answer) -> Self {
        Self::new(Framing::Events, Box::new(anthropic::Reader::new(target, request, answer)))
    }

    pub(crate) fn gemini(target: &Target, answer: Answer) -> Self {
        Self::new(Framing::Events, Box::new(gemini::Reader::new(target, answer)))
    }

    pub(crate) fn ollama(target: &Target, answer: Answer) -> Self {
        Self::new(Framing::Lines, Box::new(ollama::Reader::new(target, answer)))
    }

    /// Takes bytes and adds the events that they complete. Bytes behind the end are ignored.
    ///
    /// # Errors
    /// `Answer(Malformed | Oversized | Truncated)`, `Refused` for an error that the provider tells within the stream. The
    /// events before it have been added.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        if let State::Failed(error) = &self.state {
            return Err(error.clone());
        }
        if self.state == State::Open {
            self.frames.push(bytes);
            if let Err(error) = self.read(out) {
                return self.fail(error);
            }
        }
        Ok(())
    }

    /// Tells the end of the bytes.
    ///
    /// # Errors
    /// `Answer(Truncated)` when the answer was not complete; an error that was told before.
    pub fn finish(&mut self, out: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        match &self.state {
            State::Failed(error) => return Err(error.clone()),
            State::Done => return Ok(()),
            State::Open => {}
        }
        // A frame that the end cut in half is malformed only because there is no more of it.
        let last = match self.frames.last() {
            Ok(Some(frame)) => self.frame(frame, out),
            Ok(None) => Ok(()),
            Err(fault) => Err(fault.into()),
        };
        let end = match last {
            Err(WireError::Answer(AnswerFault::Malformed)) => Err(AnswerFault::Truncated.into()),
            Err(error) => Err(error),
            Ok(()) if self.state == State::Done => Ok(()),
            Ok(()) => self.reader.end(out),
        };
        match end {
            Ok(()) => {
                self.state = State::Done;
                Ok(())
            }
            Err(error) => self.fail(error),
        }
    }

    /// The tokens as far as the provider has told them: whole at the end, perhaps none after an abort.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.reader.usage()
    }

    /// Whether the provider has told the end.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    fn read(&mut self, out: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        while let Some(frame) = self.frames.next()? {
            self.frame(frame, out)?;
            if self.state == State::Done {
                self.frames.clear();
                break;
            }
        }
        Ok(())
    }

    fn frame(&mut self, frame: Bytes, out: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        self.reader.frame(frame, out)?;
        if out.last() == Some(&StreamEvent::Done) {
            self.state = State::Done;
        }
        Ok(())
    }

    fn fail(&mut self, error: WireError) -> Result<(), WireError> {
        self.frames.clear();
        self.state = State::Failed(error.clone());
        Err(error)
    }
}
