//! The protocol between tunnel and relay: frames over a WebSocket, and the sealed letters that they carry.
//!
//! This crate holds only the types and their encoding. Connecting, storing and sealing are done by the crates above it.

mod control;
mod frame;
mod letter;

pub use control::{INTRODUCTION_HEADER, Invited, Join, Joined, OpenTunnel, Opened};
pub use frame::{
    AppFrame, Depth, FrameError, HELLO_CONTEXT, Hold, MAX_FRAME, MAX_LETTER, MAX_SOURCES, MAX_UNSERVED,
    NO_ANSWER, PIECE, Parcel, RelayFrame, SourceOffer, TunnelDevice, VERSION, WORDS, WORDS_HEADER, decode,
    encode, hello_text,
};
pub use letter::{LETTER_VERSION, Letter, LetterError, Received};
