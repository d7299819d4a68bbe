//! What is searched for, in the search language.

use std::time::Duration;

use hookmitt_event::Timestamp;
use hookmitt_stories::{ABSENT_WORD, COMMON_WORD, RARE_WORD};

/// A query that a server without the search language takes for a text, and one with it refuses.
pub(super) const PROBE: &str = "is:no-such-mark";

/// Each key alone: with values that many events have, few, and none.
pub(super) const KEYS: [&str; 38] = [
    "source:shop",
    "source:sensors",
    "type:push",
    "type:charge.*",
    "type:nothing.like.this",
    "provider:stripe",
    "verdict:valid",
    "verdict:invalid",
    "status:completed",
    "status:dead_letter",
    "status:pending",
    "via:tunnel",
    "via:edit",
    "target:shop",
    "target:nowhere",
    "method:POST",
    "method:PUT",
    "path:/v1/*",
    "path:/nowhere",
    "tag:nobody-has-it",
    "is:duplicate",
    "is:first",
    "is:conflict",
    "is:stale",
    "is:pinned",
    "is:browser",
    "is:edited",
    "is:handshake",
    "is:deleted",
    "size:>100kb",
    "size:<1kb",
    "size:>100mb",
    "response:503",
    "response:200",
    "response:418",
    "latency:>500ms",
    "latency:>1h",
    "#12..#40",
];

/// Times before the last event was received, by name.
pub(super) fn times(until: Timestamp) -> Vec<(&'static str, String)> {
    let days = |days: u64| until.before(Duration::from_secs(days * 86_400));
    vec![
        ("after: the last day", format!("after:{}", days(1))),
        ("before: the first ten days", format!("before:{}", days(80))),
        ("after: before: a day in between", format!("after:{} before:{}", days(41), days(40))),
    ]
}

/// Twenty pairs of keys. Both of the first are dense, and no event has both; those after it differ in which of the two is
/// rare, and in how many events have both.
pub(super) const PAIRS: [&str; 20] = [
    "provider:stripe type:push",
    "source:shop verdict:no_secret",
    "source:sensors status:completed",
    "is:duplicate is:first",
    "provider:github verdict:valid",
    "source:stripe-live type:invoice.paid",
    "source:github is:duplicate",
    "verdict:invalid status:dead_letter",
    "verdict:valid status:completed",
    "via:tunnel verdict:invalid",
    "via:edit is:browser",
    "type:push is:stale",
    "source:shop status:pending",
    "status:failed provider:twilio",
    "response:503 source:stripe-live",
    "latency:>500ms status:completed",
    "size:>100kb verdict:valid",
    "method:POST path:/v1/closed",
    "-source:shop verdict:invalid",
    "type:push,pipeline provider:gitlab",
];

/// Texts: rare, common, both, of another script, a phrase, and one that isn't there.
pub(super) fn texts() -> Vec<(&'static str, String)> {
    vec![
        ("text, present, rare", RARE_WORD.to_owned()),
        ("text, present, common", COMMON_WORD.to_owned()),
        ("text, both", format!("{COMMON_WORD} {RARE_WORD}")),
        ("text, another script", "顧客支払".to_owned()),
        ("text, a phrase", format!("\"{COMMON_WORD} fli\"")),
        ("text, absent", ABSENT_WORD.to_owned()),
    ]
}

/// What no index knows.
pub(super) const UNINDEXED: [&str; 5] = [
    "body./data/object/currency:eur",
    "body./total:>499900",
    "body./nothing/like/this:1",
    "header.X-GitHub-Event:push",
    "header.X-Nobody-Sends-It:1",
];
