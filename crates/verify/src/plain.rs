//! Turns text that a sender chose into one plain line, because subjects stand in lists, terminals and notifications.

/// Returns the first line that says something, with single spaces and without control, bidi and other invisible
/// characters. Returns an empty text if no line does.
pub(crate) fn line(text: &str) -> String {
    let lines = text.split(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']);
    lines.map(tidy).find(|line| line.chars().any(says_something)).unwrap_or_default()
}

fn tidy(line: &str) -> String {
    let seen: String = line.chars().filter(|letter| letter.is_whitespace() || !is_unseen(*letter)).collect();
    seen.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a character shows nothing or changes how others are shown. The joiners U+200C and U+200D stay, because
/// scripts and emoji need them.
fn is_unseen(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn says_something(letter: char) -> bool {
    !letter.is_whitespace() && !matches!(letter, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

/// Whether a line says something to people: it is neither an id nor a piece of JSON.
pub(crate) fn is_telling(line: &str) -> bool {
    let is_json = line.starts_with('{') && line.contains('"');
    !line.is_empty() && !is_json && !is_random(line)
}

/// Whether a line is one word that holds a random token. Addresses and links may hold one.
fn is_random(line: &str) -> bool {
    if line.contains(char::is_whitespace) || line.contains('@') || line.contains("://") {
        return false;
    }
    let runs = line.split(|letter: char| !letter.is_ascii_alphanumeric());
    runs.into_iter().any(is_random_run) || line.as_bytes().windows(36).any(is_uuid)
}

/// The length from which letters and digits in turns count as random. Shorter ones may be the number of an order.
const RANDOM: usize = 16;
/// How often random tokens at least change between digits, capitals and small letters. Words joined to a date change
/// less often.
const CHANGES: usize = 5;

fn is_random_run(run: &str) -> bool {
    let kind = |byte: &u8| (byte.is_ascii_digit(), byte.is_ascii_uppercase());
    let kinds: Vec<_> = run.bytes().map(|byte| kind(&byte)).collect();
    let changes = kinds.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    run.len() >= RANDOM && (digits == run.len() || digits > 0 && changes >= CHANGES)
}

fn is_uuid(bytes: &[u8]) -> bool {
    let fits = |(at, byte): (usize, &u8)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    bytes.iter().enumerate().all(fits)
}

/// Returns a chat message in plain words. Mentions by id are left out, those with a name become `@name`, links become
/// their text, and the three escaped characters are written plainly (Slack: docs.slack.dev "Formatting message text",
/// Discord: docs.discord.com "Message formatting").
pub(crate) fn chat(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once('<') {
        out.push_str(before);
        let marked = tail.split_once('>').and_then(|(inside, after)| Some((spoken(inside)?, after)));
        rest = match marked {
            Some((words, after)) => {
                out.push_str(&words);
                after
            }
            None => {
                out.push('<');
                tail
            }
        };
    }
    out.push_str(rest);
    out.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// Returns the words for what stands between `<` and `>`; `None` if it is no markup.
fn spoken(inside: &str) -> Option<String> {
    let (target, label) = match inside.split_once('|') {
        Some((target, label)) => (target, Some(label).filter(|label| !label.is_empty())),
        None => (inside, None),
    };
    let sign = target.chars().next()?;
    let named = |sign: char| label.map(|label| format!("{sign}{}", label.trim_start_matches(sign)));
    match sign {
        '@' | '#' => Some(named(sign).unwrap_or_default()),
        '!' => match &target[1..] {
            group @ ("here" | "channel" | "everyone") => Some(format!("@{group}")),
            _ => Some(label.unwrap_or_default().to_owned()),
        },
        _ if target.contains("://") => Some(label.unwrap_or(target).to_owned()),
        _ => match target.split_once(':')? {
            ("mailto" | "tel", address) => Some(label.unwrap_or(address).to_owned()),
            ("" | "a", emoji) => emoji.split_once(':').map(|(name, _)| format!(":{name}:")),
            ("t", _) => Some(String::new()),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_only_what_is_seen() {
        let table = [
            ("one\ntwo", "one"),
            (" \r\n\t two  words ", "two words"),
            ("a\u{202e}b\u{0}c\u{1b}[2J\u{2066}", "abc[2J"),
            ("x\u{2028}y", "x"),
            ("\u{200d}\u{fe0f}\nnext", "next"),
            ("👩\u{200d}🌾 harvests", "👩\u{200d}🌾 harvests"),
            ("\u{feff}", ""),
        ];
        for (text, expected) in table {
            assert_eq!(line(text), expected, "{text:?}");
        }
    }

    #[test]
    fn ids_and_json_are_not_telling() {
        for id in [
            "717f2bfc-c6d4-41fd-b238-3f2f0c0cf777",
            "user_717f2bfc-c6d4-41fd-b238-3f2f0c0cf777",
            "U4af4980629f1d7c2b3a4958671605f4e",
            "pi_3QKd4uLkdIwHu7ixT2pWq8Lx",
            "1234560123453231555",
            "65f0a1b2c3d4e5f60718293a",
            r#"{"bed":3}"#,
            "",
        ] {
            assert!(!is_telling(id), "{id}");
        }
        for words in [
            "GRN-217",
            "report-20261123T101112Z.pdf",
            "InvalidArgumentExceptionHandler",
            "a1b2c3d4e5f6a7b8c9d0@example.com",
            "https://example.com/a1b2c3d4e5f6a7b8c9d0",
            "revert 65f0a1b2c3d4e5f60718293a",
            "{bed} is dry",
            "+46701740605",
        ] {
            assert!(is_telling(words), "{words}");
        }
    }

    #[test]
    fn chat_markup_becomes_words() {
        let table = [
            ("<@U0BOT> is the roof open?", " is the roof open?"),
            ("hi <@U0ZOE|zoe>, see <#C0GARDEN|garden>", "hi @zoe, see #garden"),
            ("<#C0GARDEN> <!here> <!subteam^S1|@gardeners>", " @here @gardeners"),
            ("<https://example.com/a|the plan> or <https://example.com>", "the plan or https://example.com"),
            ("<mailto:zoe@example.com|zoe@example.com>", "zoe@example.com"),
            ("salt &amp; pepper &lt;3 &amp;lt;", "salt & pepper <3 &lt;"),
            ("<@!80351110224678912> <a:wave:123> <t:1618953630:R>", " :wave: "),
            ("1 < 2 and <b>", "1 < 2 and <b>"),
            ("<@", "<@"),
            ("<>", "<>"),
        ];
        for (text, expected) in table {
            assert_eq!(chat(text), expected, "{text}");
        }
    }
}
