//! The product's words as types: what was captured, and what is known about it. Without input or output.
//!
//! Every other crate uses these types; this crate depends on none of them.
//!
//! The JSON form and the API descriptions of a type are derived where the type is defined, so that they are written
//! only once. Types that the API builds from these, such as an event with its deliveries, belong to the API.

mod actor;
mod authority;
mod counted;
mod delivery;
mod error;
mod event;
mod explanation;
mod glance;
mod headers;
mod id;
mod job;
mod near;
mod no_connection;
mod own_lines;
mod request;
mod retention;
mod source;
mod tag;
mod target;
mod text;
mod time;
mod tunnel;
mod verdict;
mod withheld;

pub use actor::{Actor, Deed};
pub use authority::Authority;
pub use counted::counted;
pub use delivery::{Attempt, Delivery, DeliveryState, EventStatus, Queue, ResponseHead, is_refusal};
pub use error::Explain;
pub use event::{
    Answerer, DedupeKey, Event, Facts, HandshakeAnswer, HandshakeOffer, SenderAnswer, SignedWith, Via,
};
pub use explanation::{
    CalledUrl, CauseState, CodeFix, ContentKind, ContentPart, ExplainedCause, Explanation, Fitting, FixKind,
    FixLine, FrameworkFix, SecretFit,
};
pub use glance::{DeliveryGlance, Glance};
pub use headers::{HeaderError, HeaderLine, HeaderLines, HeaderValueJson, is_token};
pub use id::{DeliveryId, EventId, IdError, TargetId};
pub use job::{JobResult, JobState};
pub use near::{near, nearest};
pub use no_connection::{NoConnection, Silence};
pub use own_lines::{is_ours, reads_as};
pub use request::{HttpVersion, Request};
pub use retention::{Keep, Kept, Retention, WhenFull};
pub use source::{
    Answer, GenericScheme, OnDuplicate, OnInvalid, ProviderFrom, Respond, Slug, SlugError, Source,
    SyncDelivery, SyncSettings,
};
pub use tag::{MOST_TAGS, Tag, TagError};
pub use target::{OrderMode, OrderModeError, RetryPolicy, Target, TargetKind, TargetState};
pub use text::{Plain, PlainJson};
pub use time::{Timestamp, TimestampError};
pub use tunnel::{GapWhy, TunnelKind};
pub use verdict::{Cause, Verdict};
pub use withheld::{WithheldReason, is_host_name};
