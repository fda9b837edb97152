//! Frames on their way to the log.

use std::ffi::c_int;

/// Bytes of the log's own header, before the first frame (SQLite's file format, 4.1).
const LOG_HEADER: i64 = 32;
/// Bytes of a frame's header, before its page.
const HEADER: usize = 24;
/// Bytes that are written in one call at most: SQLite's own file system splits what is longer.
const MOST: usize = 0x1_FFFF;

/// Writes bytes at an offset of the file; a code of SQLite where that fails.
pub(crate) type Write<'a> = &'a mut dyn FnMut(&[u8], i64) -> Result<(), c_int>;

/// Frames of one transaction that were given and are not in the file yet: one behind the other, without a gap.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    bytes: Vec<u8>,
    /// Offset of the first of them.
    at: i64,
    /// Page that the last header asks for.
    awaits: Option<Page>,
    /// Bytes before the last header.
    before: usize,
    /// Offset of the last read.
    read: Option<i64>,
    /// Whether pages come in parts, as they may on disks whose sectors break: nothing is kept then.
    in_parts: bool,
}

/// Page that is to follow a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Page {
    /// Of the frame that ends a transaction.
    Last,
    Other,
}

impl Frames {
    /// Takes bytes for an offset: keeps them where they are a part of a new frame, and else writes them behind what is kept.
    ///
    /// # Errors
    /// The code of a write that failed. The bytes are not kept then; what was kept before still is.
    pub(crate) fn take(&mut self, bytes: &[u8], at: i64, write: Write<'_>) -> Result<(), c_int> {
        if let Some(page) = self.awaits.take() {
            if at == self.end() && is_page(bytes) {
                self.bytes.extend_from_slice(bytes);
                let is_full = self.bytes.len() + HEADER + bytes.len() > MOST;
                if page == Page::Other && !is_full {
                    return Ok(());
                }
                let written = self.flush(write);
                if written.is_err() {
                    self.bytes.truncate(self.before);
                }
                return written;
            }
            self.in_parts |= at == self.end();
        } else if let Some(page) = self.awaited(bytes, at) {
            self.rewind(at);
            if at != self.end() {
                self.flush(write)?;
                self.at = at;
            }
            if self.bytes.capacity() == 0 {
                self.bytes.reserve_exact(MOST);
            }
            self.before = self.bytes.len();
            self.bytes.extend_from_slice(bytes);
            self.awaits = Some(page);
            return Ok(());
        }
        if at < LOG_HEADER {
            // The log begins anew.
            self.forget();
        }
        self.flush(write)?;
        write(bytes, at)
    }

    /// The page that bytes ask for where they are the header of a new frame.
    ///
    /// A header that was read just now is the one of a frame that is there, whose checksum is mended: no page follows.
    fn awaited(&self, bytes: &[u8], at: i64) -> Option<Page> {
        let header: &[u8; HEADER] = bytes.try_into().ok()?;
        if self.in_parts || at < LOG_HEADER || self.read == Some(at) {
            return None;
        }
        // Bytes 4 to 8: the pages of the database after the transaction in its last frame, zero in each other one.
        let [_, _, _, _, a, b, c, d, ..] = *header;
        Some(if [a, b, c, d] == [0; 4] { Page::Other } else { Page::Last })
    }

    /// Forgets frames from an offset on: a new one in their place says that they were taken back.
    fn rewind(&mut self, at: i64) {
        let stays = usize::try_from(at.saturating_sub(self.at)).unwrap_or(0);
        self.bytes.truncate(stays);
    }

    /// Notes a read; what is kept of its bytes is written before.
    ///
    /// # Errors
    /// The code of a write that failed.
    pub(crate) fn read(&mut self, many: c_int, at: i64, write: Write<'_>) -> Result<(), c_int> {
        self.read = Some(at);
        let is_kept = at < self.end() && at.saturating_add(many.into()) > self.at;
        if is_kept { self.flush(write) } else { Ok(()) }
    }

    /// Writes what is kept.
    ///
    /// # Errors
    /// The code of the write that failed. It is kept still: SQLite was told that it is there.
    pub(crate) fn flush(&mut self, write: Write<'_>) -> Result<(), c_int> {
        if !self.bytes.is_empty() {
            write(&self.bytes, self.at)?;
            self.at = self.end();
            self.bytes.clear();
        }
        Ok(())
    }

    /// Forgets what is kept: nobody writes any more, so that it is of a transaction that was taken back.
    pub(crate) fn forget(&mut self) {
        self.bytes.clear();
        self.awaits = None;
    }

    /// Offset behind what is kept.
    fn end(&self) -> i64 {
        self.at.saturating_add(i64::try_from(self.bytes.len()).unwrap_or(i64::MAX))
    }
}

/// Whether bytes are a whole page. A part of one that has been cut never is: the rest would be 24 bytes or a sector.
fn is_page(bytes: &[u8]) -> bool {
    bytes.len() >= 512 && bytes.len().is_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = 4_096;
    const FRAME: i64 = 24 + 4_096;

    /// A log, and what each call of the system has written: offset and length.
    #[derive(Default)]
    struct Tried {
        frames: Frames,
        file: Vec<u8>,
        calls: Vec<(i64, usize)>,
        is_full: bool,
    }

    impl Tried {
        fn with(
            &mut self,
            give: impl FnOnce(&mut Frames, Write<'_>) -> Result<(), c_int>,
        ) -> Result<(), c_int> {
            let Self { frames, file, calls, is_full } = self;
            give(frames, &mut |bytes, at| {
                if *is_full {
                    return Err(libsqlite3_sys::SQLITE_FULL);
                }
                calls.push((at, bytes.len()));
                let at = usize::try_from(at).unwrap();
                file.resize(file.len().max(at + bytes.len()), 0);
                file[at..at + bytes.len()].copy_from_slice(bytes);
                Ok(())
            })
        }

        fn write(&mut self, bytes: &[u8], at: i64) -> Result<(), c_int> {
            self.with(|frames, write| frames.take(bytes, at, write))
        }

        /// Writes a frame as SQLite does; its page is filled with its number.
        fn frame(&mut self, number: u8, ends: bool) -> Result<(), c_int> {
            let at = LOG_HEADER + FRAME * i64::from(number);
            self.write(&header(number, ends), at)?;
            self.write(&[number; PAGE], at + 24)
        }

        fn read(&mut self, at: i64) -> Result<(), c_int> {
            self.with(|frames, write| frames.read(4_096, at, write))
        }
    }

    fn header(number: u8, ends: bool) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[3] = number;
        header[7] = u8::from(ends);
        header
    }

    /// Content that the file is to have with so many frames.
    fn expected(frames: u8, is_last: impl Fn(u8) -> bool) -> Vec<u8> {
        let mut file = vec![0; 32];
        for number in 0..frames {
            file.extend(header(number, is_last(number)));
            file.extend([number; PAGE]);
        }
        file
    }

    #[test]
    fn frames_are_written_in_long_pieces_once_the_last_one_of_the_transaction_has_come() {
        let mut tried = Tried::default();
        for number in 0..40 {
            tried.frame(number, false).unwrap();
        }
        // 31 of them take less than 128 KiB.
        assert_eq!(tried.calls, [(32, 31 * 4_120)]);
        tried.frame(40, true).unwrap();
        tried.frame(41, true).unwrap();
        assert_eq!(tried.calls[1..], [(32 + 31 * FRAME, 10 * 4_120), (32 + 41 * FRAME, 4_120)]);
        assert_eq!(tried.file, expected(42, |number| number >= 40));
    }

    #[test]
    fn what_is_kept_is_in_the_file_before_anything_else_is_asked_of_it() {
        let mut tried = Tried::default();
        tried.frame(0, false).unwrap();
        tried.read(32 + FRAME + 24).unwrap();
        assert_eq!(tried.calls, [], "nothing of it is kept");
        tried.read(32 + 24).unwrap();
        assert_eq!(tried.file, expected(1, |_| false));
        // A page that is there is written anew, and then the log from its beginning, by another transaction.
        tried.frame(1, false).unwrap();
        tried.write(&[7; PAGE], 32 + 24).unwrap();
        assert_eq!(tried.calls, [(32, 4_120), (32 + FRAME, 4_120), (56, PAGE)]);
        tried.frame(2, false).unwrap();
        tried.write(&[9; 32], 0).unwrap();
        tried.frame(0, true).unwrap();
        assert_eq!(tried.calls[3..], [(0, 32), (32, 4_120)]);
    }

    #[test]
    fn a_checksum_that_is_mended_is_written_at_once() {
        let mut tried = Tried::default();
        tried.frame(0, false).unwrap();
        tried.frame(1, true).unwrap();
        for number in [0, 1] {
            let at = LOG_HEADER + FRAME * i64::from(number);
            tried.read(at).unwrap();
            tried.write(&header(number + 8, true), at).unwrap();
        }
        assert_eq!(tried.calls[1..], [(32, 24), (32 + FRAME, 24)]);
        assert_eq!((tried.file[35], tried.file[35 + 4_120]), (8, 9));
    }

    #[test]
    fn what_a_full_disk_refuses_is_kept_until_there_is_room_but_for_the_frame_that_was_refused() {
        let mut tried = Tried::default();
        tried.frame(0, false).unwrap();
        tried.frame(1, false).unwrap();
        tried.is_full = true;
        assert_eq!(tried.read(32 + 24), Err(libsqlite3_sys::SQLITE_FULL));
        assert_eq!(tried.frame(2, true), Err(libsqlite3_sys::SQLITE_FULL));
        tried.is_full = false;
        tried.read(32 + 24).unwrap();
        assert_eq!(tried.file, expected(2, |_| false));
        // Taken back as far as the second one.
        tried.frame(2, false).unwrap();
        tried.frame(1, true).unwrap();
        assert_eq!(tried.calls[1..], [(32 + FRAME, 4_120)]);
        assert_eq!(tried.file, expected(2, |number| number == 1));
    }

    #[test]
    fn frames_that_were_taken_back_are_not_written() {
        let mut tried = Tried::default();
        (0..3).for_each(|number| tried.frame(number, false).unwrap());
        tried.frame(1, true).unwrap();
        assert_eq!(tried.calls, [(32, 2 * 4_120)]);
        assert_eq!(tried.file, expected(2, |number| number == 1));
        tried.frame(2, false).unwrap();
        tried.frames.forget();
        tried.read(32 + 2 * FRAME + 24).unwrap();
        tried.frame(2, true).unwrap();
        assert_eq!(tried.calls[1..], [(32 + 2 * FRAME, 4_120)]);
    }

    #[test]
    fn pages_in_parts_are_written_at_once() {
        let mut tried = Tried::default();
        for number in [0, 1] {
            let at = LOG_HEADER + FRAME * i64::from(number);
            tried.write(&header(number, true), at).unwrap();
            tried.write(&[number; PAGE - 24], at + 24).unwrap();
            tried.write(&[number; 24], at + FRAME - 24).unwrap();
            assert_eq!(tried.file.len(), usize::try_from(at + FRAME).unwrap());
        }
        assert_eq!(tried.file, expected(2, |_| true));
    }
}
