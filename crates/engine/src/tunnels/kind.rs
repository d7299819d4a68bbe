//! The kinds of tunnels.

use hookmitt_detour::Quick;
use hookmitt_event::TunnelKind;

/// Returns the program that makes a tunnel of this kind, or `None` if no program does.
pub(super) const fn program(kind: TunnelKind) -> Option<Quick> {
    match kind {
        TunnelKind::Cloudflared => Some(Quick::Cloudflared),
        TunnelKind::Ngrok => Some(Quick::Ngrok),
        TunnelKind::Relay | TunnelKind::Smee => None,
    }
}
