//! The writings of a JSON body that a sender may have signed, the likeliest first.

use crate::{
    json_text::{Ascii, Html, JsonText, Layout, Letters, Writing},
    probe::Probe,
};

const COMPACT: Layout = Layout::Line { comma: ",", colon: ":" };

/// Layouts of common serialisers.
const LAYOUTS: [(Layout, &str); 9] = [
    (Layout::Seen, "its white space stays and its escapes are as before"),
    (Layout::Lines { indent: "  ", colon: ": " }, "it is indented by two spaces again"),
    (COMPACT, "the white space between its tokens is gone"),
    (Layout::Line { comma: ", ", colon: ": " }, "there are spaces after its commas and colons again"),
    (Layout::Lines { indent: "    ", colon: ": " }, "it is indented by four spaces again"),
    (Layout::Lines { indent: "\t", colon: ": " }, "it is indented by tabs again"),
    (Layout::Lines { indent: "  ", colon: " : " }, "it is indented with spaces around its colons again"),
    (Layout::Line { comma: ",", colon: ": " }, "there are spaces after its colons again"),
    (Layout::Lines { indent: "   ", colon: ": " }, "it is indented by three spaces again"),
];

/// Looks for a writing of the body over which the signature holds.
pub(crate) fn find(probe: &mut Probe<'_>, body: &[u8]) -> Option<&'static str> {
    let body = body.trim_ascii();
    if !matches!(body.first(), Some(b'{' | b'[')) || probe.room_for(body.len()) < 4 {
        return None;
    }
    let text = JsonText::read(body)?;
    let letters = letters(&text);
    let numbers = numbers(&text);
    let writings = numbers.iter().flat_map(|numbers| {
        let letters = letters.iter();
        letters.flat_map(move |letters| {
            LAYOUTS.map(|(layout, how)| (Writing { layout, letters: *letters, numbers }, how))
        })
    });
    for (writing, how) in writings {
        let mut written = text.write(writing);
        probe.spend(written.len() * 2);
        let holds = written != body && probe.holds_over(&written) || {
            written.push(b'\n');
            probe.holds_over(&written)
        };
        if holds {
            return Some(how);
        }
        if probe.is_spent() {
            return None;
        }
    }
    None
}

/// The ways to write the strings that make a difference in this text.
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

/// How the numbers may have been written: a parser turns `10.0` into `10` and `1.10` into `1.1`, or the other way round.
/// With up to four numbers every combination is tried, else all of them or one.
fn numbers(text: &JsonText<'_>) -> Vec<Vec<String>> {
    const MANY: usize = 4;
    const SINGLY: usize = 64;
    let seen: Vec<&str> = text.numbers().collect();
    let mixed = |changed: &dyn Fn(usize) -> bool, change: fn(&str) -> String| {
        let written =
            |(at, number): (usize, &&str)| if changed(at) { change(number) } else { (*number).to_owned() };
        seen.iter().enumerate().map(written).collect::<Vec<_>>()
    };
    let mut all = vec![Vec::new()];
    if seen.is_empty() {
        return all;
    }
    if seen.len() <= MANY {
        for set in (1..1usize << seen.len()).rev() {
            all.push(mixed(&|at| set >> at & 1 == 1, longer));
        }
    } else {
        all.push(mixed(&|_| true, longer));
        all.push(mixed(&|at| !whole(seen[at]), longer));
    }
    all.push(mixed(&|_| true, shorter));
    all.push(mixed(&|at| whole(seen[at]), |number| format!("{number}.00")));
    if seen.len() > MANY {
        all.extend((0..seen.len().min(SINGLY)).map(|one| mixed(&|at| at == one, longer)));
    }
    all
}

/// With the zero back that a parser dropped.
fn longer(number: &str) -> String {
    format!("{number}{}", if whole(number) { ".0" } else { "0" })
}

/// Without the zeros that a parser drops.
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
