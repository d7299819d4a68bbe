//! How large bodies are.

use super::random::Random;

/// The smallest and the largest body, in bytes.
pub(super) const SMALLEST: usize = 200;
pub(super) const LARGEST: usize = 1_000_000;

/// One body of this many is an export or carries an attachment.
const LARGE_ONE_OF: usize = 2_000;
const LARGE_FROM: f64 = 64_000.0;

/// How large the bodies of an inbox are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// As providers send them: 200 B to 1 MB, log-normal, 3 to 4 KB on average.
    Usual,
    /// As small as the samples allow, for inboxes of many millions.
    Small,
}

impl Sizes {
    /// Draws a size in bytes. A body is grown to it, but never cut.
    pub(super) fn draw(self, random: &mut Random) -> usize {
        match self {
            Self::Small => SMALLEST,
            Self::Usual if random.below(LARGE_ONE_OF) == 0 => {
                let span = LARGEST as f64 / LARGE_FROM;
                (LARGE_FROM * span.powf(random.share())) as usize
            }
            Self::Usual => ((1_350.0 * (1.2 * random.normal()).exp()) as usize).clamp(SMALLEST, LARGEST),
        }
    }
}
