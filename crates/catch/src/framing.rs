//! Finds where a body ends in the stream, and so where the next head begins.

use crate::{chunks::Chunks, head::BodyLength};

/// Follows the bytes of one body to its end.
#[derive(Debug)]
pub(crate) enum Framing {
    /// This many bytes are still to come.
    Length(u64),
    /// Somewhere in a chunked body.
    Chunked(Chunks),
    /// After the body's last byte.
    Done,
    /// The body is malformed, so that other readers could see a different end. Nothing after it is read.
    Broken(&'static str),
}

impl Framing {
    pub(crate) fn new(length: BodyLength) -> Self {
        match length {
            BodyLength::Known(0) => Self::Done,
            BodyLength::Known(length) => Self::Length(length),
            BodyLength::Chunked => Self::Chunked(Chunks::new()),
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        matches!(self, Self::Done)
    }

    /// Returns the fault of a malformed body.
    pub(crate) fn broken(&self) -> Option<&'static str> {
        match self {
            Self::Broken(why) => Some(why),
            _ => None,
        }
    }

    /// Returns how many bytes at the start of `input` belong to this body. The byte that makes it malformed doesn't
    /// count.
    pub(crate) fn take(&mut self, input: &[u8]) -> usize {
        let mut taken = 0;
        while taken < input.len() && !matches!(self, Self::Done | Self::Broken(_)) {
            taken += self.step(&input[taken..]);
        }
        taken
    }

    fn step(&mut self, input: &[u8]) -> usize {
        let (taken, next) = match self {
            Self::Length(rest) => {
                let taken = usize::try_from(*rest).unwrap_or(usize::MAX).min(input.len());
                *rest -= taken as u64;
                (taken, (*rest == 0).then_some(Self::Done))
            }
            Self::Chunked(chunks) => match chunks.step(input) {
                Ok(taken) => (taken, chunks.is_over().then_some(Self::Done)),
                Err(why) => (0, Some(Self::Broken(why))),
            },
            Self::Done | Self::Broken(_) => (0, None),
        };
        if let Some(next) = next {
            *self = next;
        }
        taken
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
            assert!(framing.broken().is_some() && taken < body.len(), "{body:?}: {taken} of {framing:?}");
            assert_eq!(framing.take(b"0\r\n\r\n"), 0, "nothing that follows is believed");
        }
    }

    #[test]
    fn a_known_length_is_counted() {
        let mut framing = Framing::new(BodyLength::Known(5));
        assert_eq!((framing.take(b"abc"), framing.is_done()), (3, false));
        assert_eq!((framing.take(b"defg"), framing.is_done()), (2, true));
    }
}
