//! A tunnel against a relay that does what the story says, over real WebSockets on loopback.

mod connecting;
mod control;
mod hostile;
mod letters;
mod moments;
mod offline;
mod pieces;
mod support;
mod turned;
mod unreadable;
