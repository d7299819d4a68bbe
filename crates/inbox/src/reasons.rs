//! Why a delivery is not sent, as stored with the delivery.

/// The delivery is held back until there is a verdict. A retry by hand sends it only if the event was found valid since
/// then.
pub const AWAITS: &str = "waits for its verdict";

/// How long a delivery may wait for the verdict and still be sent automatically, in microseconds.
pub(crate) const LONGEST_WAIT_US: i64 = 24 * 60 * 60 * 1_000_000;

/// The event was found valid, but so late that nobody expects it any more.
pub(crate) const LATE: &str = "its verdict came after more than a day";

/// The source rejects events that aren't found valid. A retry by hand sends the delivery only if the event was found
/// valid since.
pub const REJECTED: &str = "its signature was rejected";

/// The source rejects, and the signed id came before with another body.
pub(crate) const OTHER_BODY: &str =
    "another body came before under the same signed id, which covers only one";

/// The event is a duplicate.
pub(crate) const DUPLICATE: &str = "a duplicate of an event that this target has or gets";

/// A person deleted the event before it was sent. Restored, it waits again.
pub(crate) const DELETED: &str = "its event was deleted";

/// A person stopped the command whose replay it was, before it was sent.
pub const STOPPED: &str = "stopped by hand before it was sent";
