//! A tunnel and a relay that does as the story says, over real WebSockets on loopback.

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
