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
}

/// Where in a chunked body.
#[derive(Debug)]
pub(crate) enum Chunk {
    /// In a size line: the size so far, and whether its digits are over (an extension follows).
    Size { size: u64, ended: bool },
    /// So many bytes of data still to come, the line end after them included.
    Data(u64),
    /// In a trailer line: whether anything stands on it.
    Trailer { empty: bool },
}

impl Framing {
    pub(crate) fn new(length: BodyLength) -> Self {
        match length {
            BodyLength::Known(0) => Self::Done,
            BodyLength::Known(length) => Self::Length(length),
            BodyLength::Chunked => Self::Chunked(Chunk::Size { size: 0, ended: false }),
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        matches!(self, Self::Done)
    }

    /// How many bytes at the start of `input` belong to this body.
    pub(crate) fn take(&mut self, input: &[u8]) -> usize {
        let mut taken = 0;
        while taken < input.len() && !self.is_done() {
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
                    *self = if chunked {
                        Self::Chunked(Chunk::Size { size: 0, ended: false })
                    } else {
                        Self::Done
                    };
                }
                usize::try_from(taken).unwrap_or(input.len())
            }
            Self::Chunked(chunk) => {
                if chunk.line_byte(input[0]) {
                    *self = Self::Done;
                }
                1
            }
            Self::Done => 0,
        }
    }
}

impl Chunk {
    /// One byte of a size or trailer line. `true`: the body is over. hyper reads the same bytes and refuses what is
    /// malformed, so here it is enough to be right about what is not.
    fn line_byte(&mut self, byte: u8) -> bool {
        match (&mut *self, byte) {
            (Self::Size { size: 0, .. }, b'\n') => *self = Self::Trailer { empty: true },
            (Self::Size { size, .. }, b'\n') => *self = Self::Data(size.saturating_add(2)),
            (Self::Size { size, ended }, digit) => match char::from(digit).to_digit(16) {
                Some(digit) if !*ended => *size = size.saturating_mul(16).saturating_add(u64::from(digit)),
                _ => *ended = true,
            },
            (Self::Trailer { empty: true }, b'\n') => return true,
            (Self::Trailer { empty }, b'\n') => *empty = true,
            (Self::Trailer { .. }, b'\r') | (Self::Data(_), _) => {}
            (Self::Trailer { empty }, _) => *empty = false,
        }
        false
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
    fn a_known_length_is_counted() {
        let mut framing = Framing::new(BodyLength::Known(5));
        assert_eq!((framing.take(b"abc"), framing.is_done()), (3, false));
        assert_eq!((framing.take(b"defg"), framing.is_done()), (2, true));
    }
}
