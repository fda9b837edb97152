//! A reader of one event stream, who counts what it is told.

use reqwest::Response;

/// State of reading one stream, over all its connections.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// Number of the last event.
    pub last: u64,
    /// Events that came out of turn.
    pub gaps: u64,
    /// Whether the stream's own end came.
    pub ended: bool,
    rest: String,
}

impl Reading {
    /// Reads until the stream or the connection ends.
    pub(crate) async fn read(&mut self, response: &mut Response) {
        self.rest.clear();
        while let Ok(Some(chunk)) = response.chunk().await {
            self.take(&String::from_utf8_lossy(&chunk));
            if self.ended {
                return;
            }
        }
    }

    fn take(&mut self, text: &str) {
        self.rest.push_str(text);
        while let Some(end) = self.rest.find('\n') {
            let line: String = self.rest.drain(..=end).collect();
            let line = line.trim_end();
            if let Some(number) = line.strip_prefix("id: ").and_then(|number| number.parse::<u64>().ok()) {
                self.gaps += u64::from(number != self.last + 1);
                self.last = number;
            }
            self.ended |= line == "event: end";
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_counted_over_pieces_and_a_gap_is_seen() {
        let mut reading = Reading::default();
        for piece in ["id: 1\nevent: run.st", "arted\ndata: {}\n\nid: 2\nev", "ent: x\n\n: heartbeat\n\n"] {
            reading.take(piece);
        }
        assert_eq!((reading.last, reading.gaps, reading.ended), (2, 0, false));
        reading.take("id: 4\nevent: x\n\nevent: end\ndata: {}\n\n");
        assert_eq!((reading.last, reading.gaps, reading.ended), (4, 1, true));
    }
}
