//! Where a body ends in the stream, so that the next head is found.

use crate::head::BodyLength;

/// Counts through the wire form of one body.
#[derive(Debug)]
pub(crate) enum Framing {
    /// So many bytes still to come.
    Length(u64),
    /// Somewhere in a chunked body (RFC 9112, 7.1).
    Chunked(Chunk),
    /// After its last byte.
    Done,
    /// A line ended as none may, so that others would see another end of the body: nothing that follows is believed.
    Broken,
}

/// Where in a chunked body.
#[derive(Debug)]
pub(crate) enum Chunk {
    /// In a size line: the size so far, and whether its digits are over (an extension follows).
    Size { size: u64, ended: bool, cr: bool },
    /// So many bytes of data still to come, the line end after them included.
    Data(u64),
    /// In a trailer line: whether anything stands on it.
    Trailer { empty: bool, cr: bool },
}

/// At the start of a size line, and of a trailer line.
const SIZE: Chunk = Chunk::Size { size: 0, ended: false, cr: false };
const TRAILER: Chunk = Chunk::Trailer { empty: true, cr: false };

/// What a byte of a line brought.
enum Line {
    GoesOn,
    BodyOver,
    Broken,
}

impl Framing {
    pub(crate) fn new(length: BodyLength) -> Self {
        match length {
            BodyLength::Known(0) => Self::Done,
            BodyLength::Known(length) => Self::Length(length),
            BodyLength::Chunked => Self::Chunked(SIZE),
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        matches!(self, Self::Done)
    }

    pub(crate) fn is_broken(&self) -> bool {
        matches!(self, Self::Broken)
    }

    /// How many bytes at the start of `input` belong to this body.
    pub(crate) fn take(&mut self, input: &[u8]) -> usize {
        let mut taken = 0;
        while taken < input.len() && !self.is_done() && !self.is_broken() {
            taken += self.step(&input[taken..]);
        }
        taken
    }

    fn step(&mut self, input: &[u8]) -> usize {
        let available = u64::try_from(input.len()).unwrap_or(u64::MAX);
        match self {
            Self::Length(rest) | Self::Chunked(Chunk::Data(rest)) => {
                let taken = available.min(*rest);
                *rest -= taken;
                if *rest == 0 {
                    let chunked = matches!(self, Self::Chunked(_));
                    *self = if chunked { Self::Chunked(SIZE) } else { Self::Done };
                }
                usize::try_from(taken).unwrap_or(input.len())
            }
            Self::Chunked(chunk) => {
                match chunk.line_byte(input[0]) {
                    Line::GoesOn => {}
                    Line::BodyOver => *self = Self::Done,
                    Line::Broken => *self = Self::Broken,
                }
                1
            }
            Self::Done | Self::Broken => 0,
        }
    }
}

impl Chunk {
    /// One byte of a size or trailer line. hyper reads the same bytes and refuses what is malformed, so here it is enough
    /// to be right about what is not; but it takes a trailer's bare line feed for no end of a line.
    fn line_byte(&mut self, byte: u8) -> Line {
        let (Self::Size { cr, .. } | Self::Trailer { cr, .. }) = self else { return Line::GoesOn };
        let after_cr = std::mem::replace(cr, byte == b'\r');
        match (&mut *self, byte) {
            (_, b'\n') if !after_cr => return Line::Broken,
            (Self::Trailer { empty: true, .. }, b'\n') => return Line::BodyOver,
            (Self::Trailer { .. } | Self::Size { size: 0, .. }, b'\n') => *self = TRAILER,
            (Self::Size { size, .. }, b'\n') => *self = Self::Data(size.saturating_add(2)),
            (Self::Size { size, ended, .. }, digit) => match char::from(digit).to_digit(16) {
                Some(digit) if !*ended => *size = size.saturating_mul(16).saturating_add(u64::from(digit)),
                _ => *ended = true,
            },
            (Self::Trailer { .. }, b'\r') | (Self::Data(_), _) => {}
            (Self::Trailer { empty, .. }, _) => *empty = false,
        }
        Line::GoesOn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = b"5;x=a\r\nhello\r\n1A\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\nT: 1\r\n\r\n";

    #[test]
    fn a_chunked_body_ends_where_it_ends_however_it_is_cut() {
        let wire = [BODY, b"GET /next"].concat();
        for cut in 1..wire.len() {
            let mut framing = Framing::new(BodyLength::Chunked);
            let taken: usize = wire.chunks(cut).map(|piece| framing.take(piece)).sum();
            assert_eq!((taken, framing.is_done()), (BODY.len(), true), "cut at {cut}");
        }
    }

    #[test]
    fn a_line_that_ends_without_a_return_breaks_the_body_off() {
        for body in
            ["5\nhello\r\n0\r\n\r\n", "0\r\nT: 1\n\nGET", "0\r\n\nGET", "0\r\nT: 1\n\r\nGET", "0;x\n\r\n"]
        {
            let mut framing = Framing::new(BodyLength::Chunked);
            let taken = framing.take(body.as_bytes());
            assert!(framing.is_broken() && taken < body.len(), "{body:?}: {taken} of {framing:?}");
        }
    }

    #[test]
    fn a_known_length_is_counted() {
        let mut framing = Framing::new(BodyLength::Known(5));
        assert_eq!((framing.take(b"abc"), framing.is_done()), (3, false));
        assert_eq!((framing.take(b"defg"), framing.is_done()), (2, true));
    }
}
