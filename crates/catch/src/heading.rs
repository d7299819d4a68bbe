//! Gathers a head until it is whole, within the limit of bytes in flight.

use bytes::{Buf as _, BytesMut};

use crate::{
    head::{Head, HeadError, MAX_HEAD, parse_head},
    intake::{Room, Share},
};

/// The state of a head that isn't whole yet. Each byte is looked at only a few times, however many pieces the head
/// comes in.
pub(crate) struct Heading {
    room: Room,
    /// The share of the bytes in flight for what has come so far.
    share: Option<Share>,
    /// How many bytes of empty lines came before the head.
    skipped: usize,
    /// How many bytes were searched for the head's end.
    searched: usize,
    /// How many bytes there were at the last attempt to parse the head.
    parsed: usize,
}

impl Heading {
    pub(crate) fn new(room: Room) -> Self {
        Self { room, share: None, skipped: 0, searched: 0, parsed: 0 }
    }

    /// Takes a head off the start of `input`, with its share of the bytes in flight. Returns `Ok(None)` if more bytes
    /// are needed.
    pub(crate) fn take(&mut self, input: &mut BytesMut) -> Result<Option<(Head, Share)>, HeadError> {
        self.skip_empty_lines(input)?;
        if matches!(input[..], [] | [b'\r']) {
            return Ok(None); // a lone CR is half of an empty line, so the next byte decides
        }
        let whole = if self.is_worth_parsing(input) { parse_head(input)? } else { None };
        let mut share =
            self.share.take().or_else(|| Share::of([self.room.clone()])).ok_or(HeadError::NoRoom)?;
        let Some((head, taken)) = whole else {
            let is_held = share.grow(input.len());
            self.share = Some(share);
            return if is_held { Ok(None) } else { Err(HeadError::NoRoom) };
        };
        // If there is no room, the gathering of the body notices that and goes on reading, so that the sender gets the
        // answer.
        share.grow(head.size());
        share.shrink(head.size());
        input.advance(taken);
        *self = Self::new(self.room.clone());
        Ok(Some((head, share)))
    }

    /// Skips empty lines before a head: they mean nothing (RFC 9112, 2.2), but there may not be endlessly many.
    fn skip_empty_lines(&mut self, input: &mut BytesMut) -> Result<(), HeadError> {
        while self.searched == 0 && matches!(input[..], [b'\n', ..] | [b'\r', b'\n', ..]) {
            let line = if input[0] == b'\n' { 1 } else { 2 };
            input.advance(line);
            self.skipped += line;
        }
        if self.skipped > MAX_HEAD { Err(HeadError::TooLarge) } else { Ok(()) }
    }

    /// Returns whether the head may be parsed: its end is there, or enough of it to see a fault before the end.
    fn is_worth_parsing(&mut self, input: &[u8]) -> bool {
        let unsearched = &input[self.searched.saturating_sub(2)..];
        let mut feeds = unsearched.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let ends = feeds.any(|(at, _)| matches!(unsearched[at + 1..], [b'\n', ..] | [b'\r', b'\n', ..]));
        self.searched = input.len();
        let is_worth = ends || input.len() > MAX_HEAD || input.len() >= 2 * self.parsed;
        if is_worth {
            self.parsed = input.len();
        }
        is_worth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(wire: &[u8], cut: usize, room: &Room) -> Result<Option<Head>, HeadError> {
        let (mut heading, mut input) = (Heading::new(room.clone()), BytesMut::new());
        for piece in wire.chunks(cut) {
            input.extend_from_slice(piece);
            if let Some((head, _share)) = heading.take(&mut input)? {
                return Ok(Some(head));
            }
        }
        Ok(None)
    }

    #[test]
    fn a_head_is_found_however_it_is_cut() {
        let heads: [&[u8]; 5] = [
            b"GET / HTTP/1.1\r\nHost: h\r\n\r\n",
            b"\r\n\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
            b"GET / HTTP/1.1\nHost: h\n\n",
            b"GET / HTTP/1.1\nHost: h\r\nX: y\n\r\n",
            b"GET / HTTP/1.0\r\n\r\n",
        ];
        let room = Room::new(1 << 20);
        for wire in heads {
            let whole = parse_head(wire).unwrap().map(|(head, _)| head);
            for cut in 1..=wire.len() {
                assert_eq!(fed(wire, cut, &room).unwrap(), whole, "cut at {cut}");
                assert_eq!(fed(&wire[..wire.len() - 1], cut, &room).unwrap(), None, "cut at {cut}");
            }
        }
    }

    #[test]
    fn threat_7_a_head_that_comes_byte_by_byte_is_parsed_a_few_times_only() {
        let mut heading = Heading::new(Room::new(1 << 20));
        let wire = [b"GET / HTTP/1.1\r\nX: ", &[b'a'; MAX_HEAD - 100][..], b"\r\n\r\n"].concat();
        let parsed = (1..=wire.len()).filter(|len| heading.is_worth_parsing(&wire[..*len])).count();
        assert!((2..=20).contains(&parsed), "{parsed} times");
    }

    #[test]
    fn threat_7_empty_lines_before_a_head_come_to_an_end() {
        let room = Room::new(1 << 20);
        for line in ["\n", "\r\n"] {
            let wire = line.repeat(MAX_HEAD + 1);
            assert_eq!(fed(wire.as_bytes(), 100, &room), Err(HeadError::TooLarge));
            let some = [&line.repeat(1_000), "GET / HTTP/1.0\r\n\r\n"].concat();
            assert!(fed(some.as_bytes(), 7, &room).unwrap().is_some());
        }
    }

    #[test]
    fn threat_7_half_of_an_empty_line_is_part_of_no_head() {
        let (mut heading, mut input) = (Heading::new(Room::new(1 << 20)), BytesMut::new());
        for piece in ["\r", "\n", "\r\n\r", "\n"] {
            input.extend_from_slice(piece.as_bytes());
            assert_eq!(heading.take(&mut input).map(|head| head.is_some()), Ok(false));
        }
        assert_eq!((heading.skipped, heading.searched), (6, 0));
    }

    #[test]
    fn threat_7_heads_are_in_flight_until_they_are_done_with() {
        let room = Room::new(10 * 1_024);
        let begun = |bytes: usize| {
            let (mut heading, mut input) =
                (Heading::new(room.clone()), BytesMut::from(&b"GET / HTTP/1.1\r\n"[..]));
            input.resize(bytes, b'a');
            heading.take(&mut input).map(|head| (heading, head.is_some()))
        };
        let (first, is_whole) = begun(6 * 1_024).unwrap();
        assert!(!is_whole);
        assert_eq!(begun(5 * 1_024).map(drop), Err(HeadError::NoRoom));
        let second = begun(4 * 1_024).unwrap();
        drop((first, second));

        let mut input = BytesMut::from(&b"GET / HTTP/1.0\r\n\r\n"[..]);
        input.resize(8 * 1_024, b'a');
        let (_head, share) = Heading::new(room.clone()).take(&mut input).unwrap().unwrap();
        assert!(begun(9 * 1_024).is_ok(), "what follows the head is not counted as its");
        assert_eq!(begun(10 * 1_024).map(drop), Err(HeadError::NoRoom), "the head is");
        drop(share);
        assert!(begun(10 * 1_024).is_ok());
    }
}
