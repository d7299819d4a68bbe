//! Computes what is stored of a captured request: provider, verdict, facts, keys and answer, without any I/O.

mod answered;
mod judged;
mod pages;
mod proof;
mod rewritten;
mod set_up;
mod signing;

pub(crate) use answered::{Answered, asked, is_confirmed};
pub(crate) use judged::{Arrival, Judged, key_hash, of_copy, single_use};
pub(crate) use pages::{Page, Pages};
pub(crate) use rewritten::{marked, rewritten};
pub(crate) use signing::{handler_url, pair_of, place_of, seen_url, signed, signed_with_own};
