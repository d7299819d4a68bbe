//! Finds the end of a chunked body (RFC 9112, 7.1), by the letter of the RFC: a body of which two readers could see
//! different ends is refused.

use hookmitt_event::is_token;

/// The most digits of a chunk's size: more would not fit into a number.
const MAX_DIGITS: u8 = 16;

/// The most bytes of extensions and trailers in one body, which nobody reads.
const MAX_BESIDE: usize = 16 * 1024;

/// Follows the bytes of one chunked body to its end.
#[derive(Debug)]
pub(crate) struct Chunks {
    at: At,
    /// The size of the current chunk, and later how much of its data is still to come.
    size: u64,
    beside: usize,
}

/// What the next byte is expected to belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// The size, after this many digits.
    Size(u8),
    /// White space after a size or an extension, after which only another extension may come.
    Gap,
    /// Before an extension's name, in the name, and in white space after the name.
    NameSoon,
    Name,
    NameOver,
    /// Before an extension's value, and in a value without quotes.
    ValueSoon,
    Value,
    /// In a quoted value, after a `\` in it, and after its closing quote.
    Quoted,
    Escaped,
    Unquoted,
    /// The line feed that ends a size line.
    SizeEnd,
    Data,
    /// The CR and the LF after the data.
    DataCr,
    DataLf,
    /// The start of a trailer line, or of the empty line that ends the body.
    Trailer,
    Field,
    FieldValue,
    FieldEnd,
    BodyEnd,
    Over,
}

impl Chunks {
    pub(crate) fn new() -> Self {
        Self { at: At::Size(0), size: 0, beside: 0 }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.at == At::Over
    }

    /// Returns how many bytes at the start of `input` belong to this body. That is at least one, unless the body has
    /// ended.
    ///
    /// # Errors
    /// Returns the fault in words if the body is malformed.
    pub(crate) fn step(&mut self, input: &[u8]) -> Result<usize, &'static str> {
        if self.at == At::Data {
            let taken = usize::try_from(self.size).unwrap_or(usize::MAX).min(input.len());
            self.size -= taken as u64;
            if self.size == 0 {
                self.at = At::DataCr;
            }
            return Ok(taken);
        }
        let Some(byte) = input.first().filter(|_| !self.is_over()) else { return Ok(0) };
        self.at = self.after(*byte)?;
        if !matches!(self.at, At::Size(_) | At::SizeEnd | At::Data | At::DataCr | At::DataLf | At::Over) {
            self.beside += 1;
            if self.beside >= MAX_BESIDE {
                return Err("its extensions and trailers are too long");
            }
        }
        Ok(1)
    }

    /// Returns what follows a byte.
    fn after(&mut self, byte: u8) -> Result<At, &'static str> {
        Ok(match (self.at, byte) {
            (At::Size(digits), _) => self.in_size(digits, byte)?,
            (at @ (At::Gap | At::NameSoon | At::NameOver | At::ValueSoon), b' ' | b'\t') => at,
            (At::Name, b' ' | b'\t') => At::NameOver,
            (At::Value | At::Unquoted, b' ' | b'\t') => At::Gap,
            (At::Gap | At::Name | At::NameOver | At::Value | At::Unquoted, b';') => At::NameSoon,
            (At::Name | At::NameOver, b'=') => At::ValueSoon,
            (At::ValueSoon, b'"') => At::Quoted,
            (At::NameSoon | At::Name, byte) if is_token(byte) => At::Name,
            (At::ValueSoon | At::Value, byte) if is_token(byte) => At::Value,
            (At::Quoted, b'"') => At::Unquoted,
            (At::Quoted, b'\\') => At::Escaped,
            (At::Quoted | At::Escaped, byte) if is_text(byte) => At::Quoted,
            (At::Name | At::Value | At::Unquoted, b'\r') => At::SizeEnd,
            (At::SizeEnd, b'\n') if self.size == 0 => At::Trailer,
            (At::SizeEnd, b'\n') => At::Data,
            (At::DataCr, b'\r') => At::DataLf,
            (At::DataLf, b'\n') => At::Size(0),
            (At::Trailer, b'\r') => At::BodyEnd,
            (At::Trailer | At::Field, byte) if is_token(byte) => At::Field,
            (At::Field, b':') => At::FieldValue,
            (At::FieldValue, b'\r') => At::FieldEnd,
            (At::FieldValue, byte) if is_text(byte) => At::FieldValue,
            (At::FieldEnd, b'\n') => At::Trailer,
            (At::BodyEnd, b'\n') => At::Over,
            (at, _) => return Err(at.fault()),
        })
    }

    fn in_size(&mut self, digits: u8, byte: u8) -> Result<At, &'static str> {
        if let Some(digit) = char::from(byte).to_digit(16) {
            if digits == MAX_DIGITS {
                return Err("a chunk's size has more than 16 digits");
            }
            self.size = if digits == 0 { 0 } else { self.size * 16 } + u64::from(digit);
            return Ok(At::Size(digits + 1));
        }
        match byte {
            b'\r' if digits > 0 => Ok(At::SizeEnd),
            b';' if digits > 0 => Ok(At::NameSoon),
            b' ' | b'\t' if digits > 0 => Ok(At::Gap),
            _ => Err(At::Size(digits).fault()),
        }
    }
}

impl At {
    /// Returns the fault in words if a byte comes here that may not.
    fn fault(self) -> &'static str {
        match self {
            Self::Size(_) => "a chunk's size must have only hexadecimal digits",
            Self::SizeEnd | Self::DataLf | Self::FieldEnd | Self::BodyEnd => "a line doesn't end in CRLF",
            Self::Data | Self::DataCr => "a chunk is longer than its size",
            Self::Trailer | Self::Field | Self::FieldValue => "a trailer isn't a header line",
            Self::Gap
            | Self::NameSoon
            | Self::Name
            | Self::NameOver
            | Self::ValueSoon
            | Self::Value
            | Self::Quoted
            | Self::Escaped
            | Self::Unquoted => "a chunk's extension must be `;name` or `;name=value`",
            Self::Over => "something follows its end",
        }
    }
}

/// Returns whether the byte may be in a value: anything but control characters other than the tab.
fn is_text(byte: u8) -> bool {
    matches!(byte, b'\t' | b' '..=b'~' | 0x80..)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many bytes belong to the body when it is fed in pieces of that size; `None` if it doesn't end.
    fn read(wire: &[u8], cut: usize) -> Result<Option<usize>, &'static str> {
        let (mut chunks, mut total) = (Chunks::new(), 0);
        for piece in wire.chunks(cut) {
            let mut taken = 0;
            while taken < piece.len() && !chunks.is_over() {
                taken += chunks.step(&piece[taken..])?;
            }
            total += taken;
        }
        Ok(chunks.is_over().then_some(total))
    }

    /// Returns a body of one chunk with this size line.
    fn line(line: &[u8]) -> Vec<u8> {
        [line, b"\r\nhello\r\n0\r\n\r\n"].concat()
    }

    #[test]
    fn what_the_grammar_allows_is_read_however_it_is_cut() {
        let lines: [&[u8]; 14] = [
            b"5",
            b"05",
            b"0000000000000005",
            b"5;a",
            b"5;a=b",
            b"5;a=\"b\"",
            b"5;a=\"\"",
            b"5;a=\"b;c=\\\"\\\\ \t\xff\"",
            b"5;a;b=c;d=\"e\"",
            b"5 ;a",
            b"5 \t; a = b ; c",
            b"5;a=\"b\" ;c",
            b"5;!#$%&'*+-.^_`|~=~",
            b"5;a= \"b\"",
        ];
        for size in lines {
            let wire = [&line(size)[..], b"GET /next"].concat();
            for cut in 1..wire.len() {
                let shown = String::from_utf8_lossy(size);
                assert_eq!(read(&wire, cut), Ok(Some(wire.len() - 9)), "{shown} cut at {cut}");
            }
        }
        for (wire, rest) in [
            (&b"0\r\n\r\n"[..], 0),
            (b"000;a=b\r\n\r\nGET", 3),
            (b"A\r\n0123456789\r\na\r\n0123456789\r\n0\r\nX-Sum: 1\r\nX:\r\nY:\t\xe9 \r\n\r\n0\r\n\r\n", 5),
        ] {
            assert_eq!(read(wire, 1), Ok(Some(wire.len() - rest)));
        }
    }

    #[test]
    fn threat_7_a_size_line_that_others_may_read_otherwise_ends_the_body() {
        let lines: [&[u8]; 42] = [
            b"",
            b"5;",
            b"5 ",
            b"5\t",
            b"5 ;",
            b"5; ",
            b"5;;a",
            b"5;a;",
            b"5;a ",
            b"5;a=b ",
            b"5;a=",
            b"5;a= ",
            b"5;=b",
            b"5;a=b=c",
            b"5;a=b c",
            b"5;a b",
            b"5;a=\"b",
            b"5;a=\"b\"c",
            b"5;a=\"b\\\"",
            b"5;a=\"b\0\"",
            b"5;a=\"b\x7f\"",
            b"5;a=\"\n\"",
            b"5;a\0",
            b"5;\0",
            b"5\0",
            b"\x005",
            b"5;a\x01=b",
            b"5;a\xe9",
            b"5;a\n",
            b"5\n",
            b"5\r",
            b"5;a\r",
            b" 5",
            b"+5",
            b"-5",
            b"0x5",
            b"5h",
            b"5.0",
            b"5,5",
            b"5 5",
            b"00000000000000005",
            b"fffffffffffffffff",
        ];
        for size in lines {
            let shown = String::from_utf8_lossy(size);
            for cut in [1, 3, 100] {
                assert!(read(&line(size), cut).is_err(), "{shown:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn threat_7_data_and_trailers_end_in_whole_line_ends_alone() {
        let bodies: [&[u8]; 17] = [
            b"5\r\nhelloo\r\n0\r\n\r\n",
            b"5\r\nhello\n0\r\n\r\n",
            b"5\r\nhello\r0\r\n\r\n",
            b"5\r\nhello0\r\n\r\n",
            b"5\r\nhello\r\n\r\n0\r\n\r\n",
            b"0\r\n\nGET",
            b"0\n\r\nGET",
            b"0\r\n\rGET",
            b"0\r\nX: y\n\r\n",
            b"0\r\nX: y\n\nGET",
            b"0\r\nX: y\r \r\n\r\n",
            b"0\r\nX : y\r\n\r\n",
            b"0\r\n X: y\r\n\r\n",
            b"0\r\n: y\r\n\r\n",
            b"0\r\nX\r\n\r\n",
            b"0\r\nX: y\r\n folded\r\n\r\n",
            b"0\r\nX: a\0b\r\n\r\n",
        ];
        for body in bodies {
            assert!(read(body, 1).is_err(), "{:?}", String::from_utf8_lossy(body));
        }
    }

    #[test]
    fn threat_7_what_nobody_reads_has_an_end() {
        let long = [&b"5;a="[..], &vec![b'b'; MAX_BESIDE]].concat();
        assert!(read(&line(&long), 64).is_err());
        let many = b"1;aaaa\r\nx\r\n".repeat(MAX_BESIDE / 4);
        assert!(read(&many, 64).is_err());
        let trailers = [&b"0\r\n"[..], &b"X: y\r\n".repeat(MAX_BESIDE / 4)].concat();
        assert!(read(&trailers, 64).is_err());
        let huge = read(b"ffffffffffffffff\r\nhello", 1);
        assert_eq!(huge, Ok(None), "whoever gathers it says that this is too much");
    }
}
