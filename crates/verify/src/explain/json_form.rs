//! The forms of a JSON body that a sender may have signed, the likeliest first.

use crate::signature::Signed;

use super::{
    finding::Finding,
    json_style::{Ascii, Html, Layout, Letters, Writing},
    json_text::JsonText,
    trial::Trial,
};

const COMPACT: Layout = Layout::Line { comma: ",", colon: ":" };

/// The layouts of common serialisers. Each has two texts: what has to be undone, and the name of the result.
const LAYOUTS: [(Layout, &str, &str); 11] = [
    (Layout::Seen, "its original escapes are restored", "the same JSON with other escapes"),
    (COMPACT, "the whitespace between its tokens is removed", "compact JSON"),
    (
        Layout::Lines { indent: "  ", colon: ": " },
        "it is indented by two spaces again",
        "JSON indented by two spaces",
    ),
    (
        Layout::Line { comma: ", ", colon: ": " },
        "the spaces after its commas and colons are restored",
        "JSON with spaces after commas and colons",
    ),
    (
        Layout::Lines { indent: "    ", colon: ": " },
        "it is indented by four spaces again",
        "JSON indented by four spaces",
    ),
    (Layout::Lines { indent: "\t", colon: ": " }, "it is indented by tabs again", "JSON indented by tabs"),
    (
        Layout::Lines { indent: "  ", colon: " : " },
        "it is indented again, with spaces around its colons",
        "JSON indented with spaces around colons",
    ),
    (
        Layout::Line { comma: ",", colon: ": " },
        "the spaces after its colons are restored",
        "JSON with spaces after colons",
    ),
    (
        Layout::Lines { indent: "   ", colon: ": " },
        "it is indented by three spaces again",
        "JSON indented by three spaces",
    ),
    (
        Layout::Line { comma: ", ", colon: ":" },
        "the spaces after its commas are restored",
        "JSON with spaces after commas",
    ),
    (Layout::Batch, "the CRLF after each item is restored", "compact JSON with a CRLF after each item"),
];

/// The layouts of most senders.
const PLAIN: [Layout; 3] = [Layout::Seen, COMPACT, Layout::Batch];

/// Looks for a form of the JSON body that matches the signature.
pub(crate) fn find(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let body = signed.parts.view.body.trim_ascii();
    let sender = trial.sender;
    if body.first() == Some(&b'"') {
        let inner: String = serde_json::from_slice(body).ok()?;
        let found = trial.fits_body(signed, inner.as_bytes());
        let how = "it is no longer a string inside a string";
        return found.then(|| finding(sender, how, "the JSON inside the string", inner.into_bytes()));
    }
    if !matches!(body.first(), Some(b'{' | b'[')) {
        return None;
    }
    let text = JsonText::read(body)?;
    if let Some(found) = in_any_writing(trial, signed, &text) {
        return Some(found);
    }
    let sorted = text.sorted()?;
    let mut found = in_any_writing(trial, signed, &sorted)?;
    found.cause.title = "Keys in another order".to_owned();
    Some(found)
}

/// Tries changes to the white space, then to numbers and to escapes, and last to numbers together with the others. If
/// signatures are costly to check, the work is enough for only the first few hundred tries.
fn in_any_writing(trial: &mut Trial<'_>, signed: &Signed<'_>, text: &JsonText<'_>) -> Option<Finding> {
    let (letters, numbers) = (letters(text), numbers(text));
    let as_seen = letters.iter().flat_map(|letters| LAYOUTS.map(|layout| (*letters, layout)));
    let spaces = LAYOUTS.map(|layout| (layout, &[][..]));
    let plain = LAYOUTS.into_iter().filter(|(layout, ..)| PLAIN.contains(layout));
    let numbered = plain.flat_map(|layout| numbers.iter().map(move |numbers| (layout, &numbers[..])));
    for (layout, numbers) in spaces.into_iter().chain(numbered) {
        if let found @ Some(_) = in_writing(trial, signed, text, Letters::Seen, layout, numbers) {
            return found;
        }
    }
    for (letters, layout) in as_seen.clone().skip(LAYOUTS.len()) {
        if let found @ Some(_) = in_writing(trial, signed, text, letters, layout, &[]) {
            return found;
        }
    }
    let rest = as_seen.filter(|(letters, (layout, ..))| *letters != Letters::Seen || !PLAIN.contains(layout));
    for (letters, layout) in rest {
        for numbers in &numbers {
            if trial.is_spent() {
                return None;
            }
            if let found @ Some(_) = in_writing(trial, signed, text, letters, layout, numbers) {
                return found;
            }
        }
    }
    None
}

fn in_writing(
    trial: &mut Trial<'_>,
    signed: &Signed<'_>,
    text: &JsonText<'_>,
    letters: Letters,
    (layout, how, label): (Layout, &'static str, &'static str),
    numbers: &[String],
) -> Option<Finding> {
    let body = signed.parts.view.body;
    if trial.is_spent() || layout == Layout::Batch && body.trim_ascii_start().first() != Some(&b'[') {
        return None;
    }
    let mut written = text.write(Writing { layout, letters, numbers });
    trial.spend(written.len() * WRITING);
    // Rare combinations are not tried with every line end.
    let usual = numbers.is_empty() && (written.len() < LONG || letters == Letters::Seen);
    let ends: &[&[u8]] = match layout {
        Layout::Batch => &[b"\r\n", b""],
        _ if usual => &[b"", b"\n", b"\r\n"],
        _ if signed.scheme.takes_public_key() && PLAIN.contains(&layout) => &[b""],
        _ if written.len() < LONG => &[b"", b"\n"],
        _ => &[b""],
    };
    for end in ends {
        let bare = written.len();
        written.extend_from_slice(end);
        if written != body && trial.fits_body(signed, &written) {
            return Some(finding(trial.sender, how, label, written));
        }
        written.truncate(bare);
    }
    None
}

/// The cost of writing a byte, relative to hashing one.
const WRITING: usize = 3;
/// Longer texts are not tried with every line end. In bytes.
const LONG: usize = 16 << 10;

/// Describes a body that was parsed and serialised again.
pub(crate) fn finding(sender: &str, how: &str, label: &str, body: Vec<u8>) -> Finding {
    let mut letters = label.chars();
    let capital: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    Finding::proven("body_reserialized", format!("{capital} verifies"))
        .saying(
            format!("The JSON was parsed and written again after {sender} signed it: the signature matches once \
                     {how}."),
            "Keep the raw request body (express.raw(), request.get_data(), request.body), and verify and forward \
             that.",
        )
        .sentence("the body was parsed and written again on its way here")
        .detail(format!(
            "The signature matches {label}, with all values unchanged. Secret and sender are right; only the bytes \
             changed."
        ))
        .fitting(format!("For {label}"))
        .body(body)
}

/// Whether the body is a list written without white space between its tokens.
pub(crate) fn is_compact_list(body: &[u8]) -> bool {
    let compact =
        |text: JsonText<'_>| text.write(Writing { layout: COMPACT, letters: Letters::Seen, numbers: &[] });
    body.first() == Some(&b'[') && JsonText::read(body).is_some_and(|text| compact(text) == body)
}

/// Whether the body is JSON whose end is missing.
pub(crate) fn breaks_off(body: &[u8]) -> bool {
    matches!(body.trim_ascii_start().first(), Some(b'{' | b'['))
        && serde_json::from_slice::<serde::de::IgnoredAny>(body).is_err_and(|error| error.is_eof())
}

/// Returns the items of a list, as they are written.
pub(crate) fn items(body: &[u8]) -> Option<Vec<&[u8]>> {
    let items: Vec<&serde_json::value::RawValue> = serde_json::from_slice(body).ok()?;
    Some(items.iter().map(|item| item.get().as_bytes()).collect())
}

/// Returns the ways to write strings that make a difference in this text.
fn letters(text: &JsonText<'_>) -> Vec<Letters> {
    let beyond_ascii = text.any_letter(|letter| !letter.is_ascii());
    let slashes = text.any_letter(|letter| letter == '/');
    let html = text.any_letter(|letter| "<>&'+`\"\u{2028}\u{2029}".contains(letter));
    let mut all = vec![Letters::Seen];
    for html in if html { &[Html::Plain, Html::Lower, Html::Upper][..] } else { &[Html::Plain] } {
        for ascii in if beyond_ascii { &[Ascii::Lower, Ascii::Raw, Ascii::Upper][..] } else { &[Ascii::Raw] }
        {
            for slash in if slashes { &[false, true][..] } else { &[false] } {
                all.push(Letters::Written { ascii: *ascii, slash: *slash, html: *html });
            }
        }
    }
    all
}

/// Returns the ways in which the numbers may have been written. A parser turns `10.0` into `10` and `1.10` into `1.1`,
/// or the other way round. With up to four numbers, every combination is tried; with more, changing all of them, all
/// fractions, or a single one.
fn numbers(text: &JsonText<'_>) -> Vec<Vec<String>> {
    const MANY: usize = 4;
    const SINGLY: usize = 64;
    let seen: Vec<&str> = text.numbers().collect();
    let mixed = |changed: &dyn Fn(usize) -> bool, change: fn(&str) -> String| {
        let written =
            |(at, number): (usize, &&str)| if changed(at) { change(number) } else { (*number).to_owned() };
        seen.iter().enumerate().map(written).collect::<Vec<_>>()
    };
    let mut all = Vec::new();
    if seen.is_empty() {
        return all;
    }
    let ways: [fn(&str) -> String; 2] = [longer, longest];
    if seen.len() <= MANY {
        for (set, way) in (1..1usize << seen.len()).rev().flat_map(|set| ways.map(|way| (set, way))) {
            all.push(mixed(&|at| set >> at & 1 == 1, way));
        }
    } else {
        for way in ways {
            all.push(mixed(&|_| true, way));
            all.push(mixed(&|at| !whole(seen[at]), way));
        }
    }
    all.push(mixed(&|_| true, shorter));
    if seen.len() > MANY {
        let singly = (0..seen.len().min(SINGLY)).flat_map(|one| ways.map(|way| (one, way)));
        all.extend(singly.map(|(one, way)| mixed(&|at| at == one, way)));
    }
    all
}

/// Adds the zero that a parser dropped.
fn longer(number: &str) -> String {
    format!("{number}{}", if whole(number) { ".0" } else { "0" })
}

/// Adds both zeros of a price.
fn longest(number: &str) -> String {
    format!("{number}{}", if whole(number) { ".00" } else { "00" })
}

/// Removes the zeros that a parser drops.
fn shorter(number: &str) -> String {
    if number.contains('.') && !number.contains(['e', 'E']) {
        number.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        number.to_owned()
    }
}

fn whole(number: &str) -> bool {
    !number.contains(['.', 'e', 'E'])
}
