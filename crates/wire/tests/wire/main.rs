//! The bytes that tunnel and relay agree on: apps and relays of different age meet.

mod any;
mod golden;
mod hostile;
mod samples;
