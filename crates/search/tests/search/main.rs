//! The search language: what is read, what is found, and what is told of a fault.
#![expect(clippy::unwrap_used, reason = "a test may fail at once")]

mod any;
mod events;
mod faults;
mod matching;
mod page;
mod page_of_docs;
mod reading;
mod rules;
