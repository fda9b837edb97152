//! The body of an answer, piece by piece.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

use crate::connect::Deadline;
use crate::decode::Decoder;
use crate::pool::{Key, Link, Pool};
use crate::{EgressError, Fault};

/// Body of an answer. Dropped before its end, its connection is closed.
pub struct OutBody {
    pub(crate) incoming: Incoming,
    pub(crate) decoder: Option<Decoder>,
    pub(crate) left: u64,
    pub(crate) limit: u64,
    pub(crate) idle: Duration,
    pub(crate) total: Deadline,
    pub(crate) way_back: Option<WayBack>,
    pub(crate) is_over: bool,
}

/// Place to which the connection goes at the body's end.
pub(crate) struct WayBack {
    pub(crate) pool: Arc<Pool>,
    pub(crate) key: Key,
    pub(crate) link: Link,
}

impl fmt::Debug for OutBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutBody").field("is_over", &self.is_over).finish_non_exhaustive()
    }
}

impl OutBody {
    /// The next piece, unpacked and never empty; `None` at the end. After an error there is only the end.
    ///
    /// # Errors
    /// `TimedOut`, `BodyTooLarge`, `UnpackedTooLarge`, `BadEncoding`, `Broken`, `NotHttp`.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, EgressError> {
        if self.is_over {
            return Ok(None);
        }
        let found = self.next().await;
        if !matches!(found, Ok(Some(_))) {
            self.is_over = true;
            let way_back = self.way_back.take();
            if let (Ok(None), Some(WayBack { pool, key, link })) = (&found, way_back) {
                pool.put(key, link);
            }
        }
        found.map_err(EgressError::after_sending)
    }

    async fn next(&mut self) -> Result<Option<Bytes>, Fault> {
        loop {
            let patience = self.total.earlier(Deadline::within(self.idle));
            let Some(frame) = patience.hold(self.incoming.frame()).await? else {
                let rest = match &mut self.decoder {
                    Some(decoder) => decoder.finish()?,
                    None => Vec::new(),
                };
                self.decoder = None;
                return Ok((!rest.is_empty()).then(|| rest.into()));
            };
            let frame = frame.map_err(|error| Fault::of_http(&error))?;
            // Trailers say nothing that is asked for here.
            let Ok(bytes) = frame.into_data() else { continue };
            self.left = self.left.checked_sub(bytes.len() as u64).ok_or(Fault::BodyTooLarge(self.limit))?;
            let bytes = match &mut self.decoder {
                Some(decoder) => decoder.unpack(&bytes)?.into(),
                None => bytes,
            };
            if !bytes.is_empty() {
                return Ok(Some(bytes));
            }
        }
    }

    /// All of the rest.
    ///
    /// # Errors
    /// As [`Self::chunk`].
    pub async fn whole(&mut self) -> Result<Bytes, EgressError> {
        let Some(first) = self.chunk().await? else { return Ok(Bytes::new()) };
        let Some(second) = self.chunk().await? else { return Ok(first) };
        let mut all = Vec::with_capacity(first.len() + second.len());
        all.extend_from_slice(&first);
        all.extend_from_slice(&second);
        while let Some(more) = self.chunk().await? {
            all.extend_from_slice(&more);
        }
        Ok(all.into())
    }
}
