//! What tunnel and relay say to each other: frames over a WebSocket, and the letter that each of them carries sealed.
//!
//! Types and their bytes only: who dials, stores or seals is the business of the crates above.

mod control;
mod frame;
mod letter;

pub use control::{INTRODUCTION_HEADER, Invited, Join, Joined, OpenTunnel, Opened};
pub use frame::{
    AppFrame, Depth, FrameError, HELLO_CONTEXT, Hold, MAX_FRAME, MAX_LETTER, MAX_SOURCES, NO_ANSWER, PIECE,
    Parcel, RelayFrame, SourceOffer, TunnelDevice, VERSION, WORDS, WORDS_HEADER, decode, encode, hello_text,
};
pub use letter::{LETTER_VERSION, Letter, LetterError, Received};
