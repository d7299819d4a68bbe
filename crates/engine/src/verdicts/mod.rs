//! Verdicts after storing: events are judged again when a secret, a setting or a published key changes, and explained.
//!
//! `rejudge` and `explain` compute; `anew` applies what they find to the inbox; `explain_new` and `published` do that
//! in the background, for the events in the queues `explaining` and `pending`.

mod anew;
mod explain;
mod explain_new;
mod explaining;
mod pending;
mod published;
mod rejudge;
mod urls;

pub use anew::Verdicts;
pub(crate) use explain_new::explain_new;
pub(crate) use published::judge_as_keys_come;
pub use rejudge::JudgeBy;
