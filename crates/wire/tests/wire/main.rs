//! The bytes on which tunnel and relay agree, because apps and relays of different versions talk to each other.

mod any;
mod golden;
mod hostile;
mod samples;
