//! What makes a tunnel.

use hookmitt_detour::Quick;
use hookmitt_event::TunnelKind;

/// The program that makes a tunnel; none where it is no program.
pub(super) const fn program(kind: TunnelKind) -> Option<Quick> {
    match kind {
        TunnelKind::Cloudflared => Some(Quick::Cloudflared),
        TunnelKind::Ngrok => Some(Quick::Ngrok),
        TunnelKind::Relay | TunnelKind::Smee => None,
    }
}
