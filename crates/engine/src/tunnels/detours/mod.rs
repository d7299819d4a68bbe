//! Ways in for people without a relay: a channel that is listened to, a program that opens a public URL. Neither keeps
//! anything: what is sent while nobody is connected is lost, and nobody knows what it was.

mod channel;
mod door;
mod lines;
mod order;
mod program;

use hookmitt_detour::Quick;
use hookmitt_event::TunnelKind;

pub(crate) use lines::rewritten;

/// The program that makes a tunnel; none where it is no program.
pub(super) const fn program(kind: TunnelKind) -> Option<Quick> {
    match kind {
        TunnelKind::Cloudflared => Some(Quick::Cloudflared),
        TunnelKind::Ngrok => Some(Quick::Ngrok),
        TunnelKind::Relay | TunnelKind::Smee => None,
    }
}
