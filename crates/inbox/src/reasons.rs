//! Why a delivery is not sent, as it is kept with the delivery.

/// It is held back until the verdict is there. No retry sends it, unless the event was found valid since.
pub const AWAITS: &str = "waits for its verdict";

/// How long a delivery may wait for the verdict and still go out by itself.
pub(crate) const LONGEST_WAIT_US: i64 = 24 * 60 * 60 * 1_000_000;

/// Its event was found valid, but nobody expects it any more.
pub(crate) const LATE: &str = "its verdict came after more than a day";

/// Its source rejects what isn't proved.
pub const REJECTED: &str = "its signature was rejected";

/// Its source rejects, and the signed id came with another body before.
pub(crate) const OTHER_BODY: &str =
    "another body came before under the same signed id, which covers only one";

/// It is a repeat.
pub(crate) const DUPLICATE: &str = "a duplicate of an event that this target has or gets";
