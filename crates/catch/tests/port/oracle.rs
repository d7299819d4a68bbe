//! What RFC 9112 says about a stream of bytes: which requests are in it, and where a server must stop reading.
//!
//! Written from the text of the standard, top to bottom over whole slices, and with nothing in common with the reader
//! that it is compared to. Where the standard leaves a choice, a comment says which one this port makes.

/// A request in the stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) method: Vec<u8>,
    pub(crate) slug: Vec<u8>,
    pub(crate) path: Vec<u8>,
    pub(crate) query: Option<Vec<u8>>,
    pub(crate) is_http10: bool,
    /// The header lines, each ended by CRLF.
    pub(crate) lines: Vec<u8>,
    pub(crate) body: Vec<u8>,
}

/// The contents of a stream.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// The requests for a source, in order. No other request may be stored.
    pub(crate) requests: Vec<Read>,
    /// How many of these requests must be stored in any case.
    pub(crate) sure: usize,
}

/// The most bytes and lines of a head, and the most bytes of a body, that are accepted.
const MAX_HEAD: usize = 64 * 1024;
const MAX_LINES: usize = 256;
const MAX_BODY: u64 = 25 * 1024 * 1024;
/// Extensions and trailers longer than this may be refused.
const MAX_BESIDE: usize = 8 * 1024;

/// Reads a stream from its start to the point after which nothing may be trusted.
pub(crate) fn read(mut rest: &[u8]) -> Stream {
    let (mut stream, mut is_sure) = (Stream::default(), true);
    while let Some(message) = message(&mut rest) {
        is_sure &= message.is_plain;
        match message.what {
            What::Source(read) => stream.requests.push(read),
            // An answer may be sent before a body is read, and then ends the connection.
            What::Root if message.has_body => is_sure = false,
            What::Root => {}
            What::Refused => break,
        }
        if is_sure {
            stream.sure = stream.requests.len();
        }
        if message.closes {
            break;
        }
    }
    stream
}

/// What a request is for.
enum What {
    Source(Read),
    /// `GET /`, which is answered and not stored.
    Root,
    /// Anything else, which is answered and ends the connection.
    Refused,
}

struct Message {
    what: What,
    has_body: bool,
    /// Whether the connection ends after it (RFC 9112, 9.3).
    closes: bool,
    /// Whether it has nothing that a careful server may refuse.
    is_plain: bool,
}

/// Skips empty lines before a request line (RFC 9112, 2.2). A line may end in a bare line feed.
fn skip_empty_lines(rest: &mut &[u8]) {
    while let Some(after) = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")) {
        *rest = after;
    }
}

/// Takes one message off the start. `None`: it isn't whole, or isn't a message.
fn message(rest: &mut &[u8]) -> Option<Message> {
    skip_empty_lines(rest);
    let before = rest.len();
    let mut is_plain = true;
    let first = head_line(rest, &mut is_plain)?;
    let (method, target, is_http10) = request_line(first)?;
    let mut fields = Vec::new();
    loop {
        let line = head_line(rest, &mut is_plain)?;
        if line.is_empty() {
            break;
        }
        fields.push(field(line)?);
    }
    if before - rest.len() > MAX_HEAD || fields.len() > MAX_LINES {
        return None;
    }
    let framing = framing(&fields, is_http10)?;
    is_plain &= target.iter().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}#".contains(byte));
    let values = |name: &'static str| {
        fields.iter().filter(move |(found, _, _)| found.eq_ignore_ascii_case(name.as_bytes()))
    };
    let connection = |token: &str| {
        values("connection")
            .any(|(_, value, _)| value.split(|byte| *byte == b',').any(|part| is_word(part, token)))
    };
    let closes = connection("close") || (is_http10 && !connection("keep-alive"));
    let hosts: Vec<_> = values("host").map(|(_, value, _)| *value).collect();
    let place = place(method, target, &hosts, is_http10);
    if matches!(&place, Place::Nowhere) || framing == Framing::Length(MAX_BODY + 1) {
        return Some(Message { what: What::Refused, has_body: true, closes: true, is_plain });
    }
    let body = match framing {
        Framing::Length(length) => take(rest, usize::try_from(length).ok()?)?.to_vec(),
        Framing::Chunked => chunked(rest, &mut is_plain)?,
    };
    let has_body = !body.is_empty() || framing == Framing::Chunked;
    let what = match place {
        Place::Source { slug, path, query } => What::Source(Read {
            method: method.to_vec(),
            slug: slug.to_vec(),
            path: path.to_vec(),
            query: query.map(<[u8]>::to_vec),
            is_http10,
            lines: fields.iter().flat_map(|(_, _, line)| [line, &b"\r\n"[..]].concat()).collect(),
            body,
        }),
        _ => What::Root,
    };
    Some(Message { what, has_body, closes, is_plain })
}

fn is_word(part: &[u8], word: &str) -> bool {
    trim(part).eq_ignore_ascii_case(word.as_bytes())
}

/// Takes this many bytes off the start.
fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(taken)
}

/// Takes one line of a head off the start, without its end.
fn head_line<'a>(rest: &mut &'a [u8], is_plain: &mut bool) -> Option<&'a [u8]> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let line = take(rest, end + 1)?;
    match line.strip_suffix(b"\r\n") {
        Some(line) => Some(line),
        None => {
            *is_plain = false;
            line.strip_suffix(b"\n")
        }
    }
}

/// Reads the request line (RFC 9112, 3): `method SP request-target SP HTTP-version`.
fn request_line(line: &[u8]) -> Option<(&[u8], &[u8], bool)> {
    let parts: Vec<_> = line.split(|byte| *byte == b' ').collect();
    let [method, target, version] = parts[..] else { return None };
    let is_http10 = match version {
        b"HTTP/1.0" => true,
        b"HTTP/1.1" => false,
        _ => return None,
    };
    let is_method = !method.is_empty() && method.len() <= 255 && method.iter().all(|byte| is_tchar(*byte));
    let is_target = !target.is_empty()
        && target.iter().all(|byte| *byte > b' ' && *byte != 0x7f)
        && std::str::from_utf8(target).is_ok();
    (is_method && is_target).then_some((method, target, is_http10))
}

/// Reads a header line (RFC 9112, 5): the name, the value without white space around it, and the line.
type Field<'a> = (&'a [u8], &'a [u8], &'a [u8]);

fn field(line: &[u8]) -> Option<Field<'_>> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    let is_name = !name.is_empty() && name.iter().all(|byte| is_tchar(*byte));
    let is_value = value.iter().all(|byte| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f));
    (is_name && is_value).then_some((name, trim(value), line))
}

fn trim(mut value: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| *byte == b' ' || *byte == b'\t';
    while value.first().is_some_and(is_blank) {
        value = &value[1..];
    }
    while value.last().is_some_and(is_blank) {
        value = &value[..value.len() - 1];
    }
    value
}

fn is_tchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[derive(PartialEq, Eq)]
enum Framing {
    /// One more than the maximum stands for everything longer.
    Length(u64),
    Chunked,
}

/// Reads the body's length (RFC 9112, 6.3), with a refusal wherever the RFC allows one.
fn framing(fields: &[Field<'_>], is_http10: bool) -> Option<Framing> {
    let of = |name: &str| -> Vec<&[u8]> {
        let named = fields.iter().filter(|(found, _, _)| found.eq_ignore_ascii_case(name.as_bytes()));
        named.map(|(_, value, _)| *value).collect()
    };
    match (&of("content-length")[..], &of("transfer-encoding")[..]) {
        ([], []) => Some(Framing::Length(0)),
        ([], [coding]) => (coding.eq_ignore_ascii_case(b"chunked") && !is_http10).then_some(Framing::Chunked),
        (lengths, []) => {
            let mut stated = lengths.iter().map(|length| number(length, 10));
            let first = stated.next()??;
            let all = stated.all(|other| other == Some(first));
            all.then_some(Framing::Length(first.min(MAX_BODY + 1)))
        }
        _ => None,
    }
}

fn number(digits: &[u8], radix: u32) -> Option<u64> {
    let plain = !digits.is_empty() && digits.iter().all(|digit| char::from(*digit).is_digit(radix));
    plain.then(|| u64::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok())?
}

enum Place<'a> {
    Source { slug: &'a [u8], path: &'a [u8], query: Option<&'a [u8]> },
    Root,
    Nowhere,
}

/// Returns what a target names (RFC 9112, 3.2), if its host may stand in a URL.
fn place<'a>(method: &[u8], target: &'a [u8], hosts: &[&[u8]], is_http10: bool) -> Place<'a> {
    let hosts_are_good = match hosts {
        [] => is_http10,
        [host] => is_authority(host),
        _ => false,
    };
    if !hosts_are_good {
        return Place::Nowhere;
    }
    let mut local = target;
    if target[0] != b'/' {
        let scheme = [&b"http://"[..], b"https://"].into_iter().find(|scheme| {
            target.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        });
        let Some(scheme) = scheme else { return Place::Nowhere };
        let rest = &target[scheme.len()..];
        let end = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
        if !is_authority(&rest[..end]) {
            return Place::Nowhere;
        }
        local = if rest[end..].starts_with(b"/") { &rest[end..] } else { b"/" };
    }
    let question = local.iter().position(|byte| *byte == b'?');
    let (path, query) = match question {
        Some(at) => (&local[1..at], Some(&local[at + 1..])),
        None => (&local[1..], None),
    };
    if path.is_empty() && method == b"GET" {
        return Place::Root;
    }
    let end = path.iter().position(|byte| *byte == b'/').unwrap_or(path.len());
    let (slug, path) = path.split_at(end);
    let is_slug = !slug.is_empty()
        && slug.len() <= 63
        && !b"-_".contains(&slug[0])
        && slug.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'));
    if is_slug { Place::Source { slug, path, query } } else { Place::Nowhere }
}

/// Checks an authority (RFC 3986, 3.2.2 and 3.2.3): no user, no commas, not empty.
fn is_authority(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let is_sign = |sign: char| sign.is_ascii_alphanumeric() || "-._~!$&'()*+;=".contains(sign);
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((inside, port)) => {
            let future = inside.strip_prefix(['v', 'V']).and_then(|rest| rest.split_once('.'));
            let is_future = future.is_some_and(|(version, address)| {
                let is_version =
                    !version.is_empty() && version.chars().all(|digit| digit.is_ascii_hexdigit());
                is_version && !address.is_empty() && address.chars().all(|sign| sign == ':' || is_sign(sign))
            });
            if !is_future && inside.parse::<std::net::Ipv6Addr>().is_err() {
                return false;
            }
            ("literal", port)
        }
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    let decoded = host.split('%').enumerate().all(|(at, part)| {
        let encoded = if at == 0 { Some("") } else { part.get(..2) };
        let is_encoded = encoded.is_some_and(|hex| hex.chars().all(|digit| digit.is_ascii_hexdigit()));
        is_encoded && part.get(encoded.map_or(0, str::len)..).is_some_and(|rest| rest.chars().all(is_sign))
    });
    let digits = port.strip_prefix(':').unwrap_or(port);
    let is_port = (port.is_empty() || port.starts_with(':'))
        && digits.bytes().all(|digit| digit.is_ascii_digit())
        && (digits.trim_start_matches('0').len() <= 5)
        && digits.trim_start_matches('0').parse::<u32>().unwrap_or(0) <= 65_535;
    !host.is_empty() && decoded && is_port
}

/// Reads a chunked body (RFC 9112, 7.1), without any tolerance.
fn chunked(rest: &mut &[u8], is_plain: &mut bool) -> Option<Vec<u8>> {
    let (mut body, mut beside) = (Vec::new(), 0);
    loop {
        let line = chunk_line(rest)?;
        let digits = line.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(line.len());
        if digits > 16 {
            return None;
        }
        let size = number(&line[..digits], 16)?;
        extensions(&line[digits..])?;
        beside += line.len() - digits;
        if size == 0 {
            break;
        }
        body.extend_from_slice(take(rest, usize::try_from(size).ok()?)?);
        if take(rest, 2)? != b"\r\n" {
            return None;
        }
    }
    let mut trailers = 0;
    loop {
        let line = chunk_line(rest)?;
        if line.is_empty() {
            break;
        }
        field(line)?;
        beside += line.len() + 2;
        trailers += 1;
    }
    *is_plain &= beside < MAX_BESIDE && trailers < 64;
    Some(body)
}

/// Takes a line that ends in CRLF and has no other CR or LF.
fn chunk_line<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = rest.iter().position(|byte| *byte == b'\r' || *byte == b'\n')?;
    let line = take(rest, end)?;
    (take(rest, 2)? == b"\r\n").then_some(line)
}

/// Checks chunk extensions (RFC 9112, 7.1.1): `*( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] )`.
fn extensions(mut rest: &[u8]) -> Option<()> {
    while !rest.is_empty() {
        rest = skip_blanks(rest).strip_prefix(b";")?;
        rest = token(skip_blanks(rest))?;
        let Some(value) = skip_blanks(rest).strip_prefix(b"=") else { continue };
        let value = skip_blanks(value);
        rest = if value.starts_with(b"\"") { quoted(&value[1..])? } else { token(value)? };
    }
    Some(())
}

fn skip_blanks(rest: &[u8]) -> &[u8] {
    let end = rest.iter().position(|byte| *byte != b' ' && *byte != b'\t').unwrap_or(rest.len());
    &rest[end..]
}

fn token(rest: &[u8]) -> Option<&[u8]> {
    let end = rest.iter().position(|byte| !is_tchar(*byte)).unwrap_or(rest.len());
    (end > 0).then_some(&rest[end..])
}

/// Returns what follows the closing quote.
fn quoted(mut rest: &[u8]) -> Option<&[u8]> {
    loop {
        let (byte, after) = rest.split_first()?;
        rest = match byte {
            b'"' => return Some(after),
            b'\\' => after.split_first().filter(|(byte, _)| is_text(**byte))?.1,
            byte if is_text(*byte) => after,
            _ => return None,
        };
    }
}

fn is_text(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}
