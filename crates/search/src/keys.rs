//! The keys of the language and the fixed words that may follow them.

use hookmitt_event::{EventStatus, Verdict, Via};

use crate::{Mark, Test, WordKey};

/// What a key asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Word(WordKey),
    Verdict,
    Status,
    Via,
    Is,
    Header,
    Body,
    Size,
    Response,
    Latency,
    After,
    Before,
}

/// A key as it is typed, up to its colon or argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) about: &'static str,
}

const fn key(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, kind, about }
}

/// Every key, in the order in which they are offered.
pub(crate) const KEYS: [Key; 18] = [
    key("source:", Kind::Word(WordKey::Source), "where it was sent"),
    key("type:", Kind::Word(WordKey::Type), "its event type, or the beginning up to a dot"),
    key("provider:", Kind::Word(WordKey::Provider), "who sends such events"),
    key("verdict:", Kind::Verdict, "what its signature says"),
    key("status:", Kind::Status, "what came of its deliveries"),
    key("via:", Kind::Via, "how it came in"),
    key("is:", Kind::Is, "duplicate, pinned, edited and so on"),
    key("tag:", Kind::Word(WordKey::Tag), "a tag of yours"),
    key("target:", Kind::Word(WordKey::Target), "where it was forwarded to"),
    key("method:", Kind::Word(WordKey::Method), "its HTTP method"),
    key("path:", Kind::Word(WordKey::Path), "its path after the source"),
    key("header.", Kind::Header, "a header line, as in header.User-Agent:*curl*"),
    key("body.", Kind::Body, "a part of a JSON body, as in body./data/id:7"),
    key("size:", Kind::Size, "the size of its body, as in >10kb"),
    key("response:", Kind::Response, "the status of an answer, as in 5xx"),
    key("latency:", Kind::Latency, "how long the last attempt took, as in >1s"),
    key("after:", Kind::After, "received then or later, as in 2h or today"),
    key("before:", Kind::Before, "received earlier than that"),
];

/// The ways in with their names.
pub(crate) const VIAS: [(Via, &str); 6] = [
    (Via::Direct, "direct"),
    (Via::Tunnel, "tunnel"),
    (Via::BackupSync, "backup_sync"),
    (Via::Import, "import"),
    (Via::Send, "send"),
    (Via::Edit, "edit"),
];

/// The marks with their names.
pub(crate) const MARKS: [(Mark, &str); 9] = [
    (Mark::Duplicate, "duplicate"),
    (Mark::First, "first"),
    (Mark::Conflict, "conflict"),
    (Mark::Stale, "stale"),
    (Mark::Pinned, "pinned"),
    (Mark::Browser, "browser"),
    (Mark::Edited, "edited"),
    (Mark::Handshake, "handshake"),
    (Mark::Deleted, "deleted"),
];

impl Kind {
    /// Returns the key's name with its colon or dot.
    pub(crate) fn name(self) -> &'static str {
        KEYS.iter().find(|key| key.kind == self).map_or("", |key| key.name)
    }

    /// Whether the key asks about the request alone, so that rules may use it.
    pub(crate) fn is_of_request(self) -> bool {
        use WordKey::{Method, Path, Type};
        matches!(self, Self::Word(Type | Method | Path) | Self::Header | Self::Body | Self::Size)
    }

    /// Returns the fixed words that may follow the key, with what they mean. `None` if any value may follow.
    pub(crate) fn words(self) -> Option<Vec<(&'static str, Test)>> {
        fn all<T: Copy>(
            names: &[(T, &'static str)],
            test: fn(T) -> Test,
        ) -> Option<Vec<(&'static str, Test)>> {
            Some(names.iter().map(|(value, name)| (*name, test(*value))).collect())
        }
        match self {
            Self::Verdict => all(&Verdict::ALL, Test::Verdict),
            Self::Status => all(&EventStatus::ALL, Test::Status),
            Self::Via => all(&VIAS, Test::Via),
            Self::Is => all(&MARKS, Test::Is),
            _ => None,
        }
    }
}

/// Returns the key of a name with its colon or dot. Case is ignored.
pub(crate) fn find(name: &str) -> Option<Kind> {
    KEYS.iter().find(|key| key.name.eq_ignore_ascii_case(name)).map(|key| key.kind)
}
