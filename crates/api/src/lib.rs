//! The management API: one typed interface for the command line, the desktop window and the browser.
//!
//! The same routes serve all of them: over TCP behind the token, Host and Origin checks of [`Gate`], over a private
//! socket in the data directory, or inside the process.

mod audit;
mod backup;
mod bin;
mod bytes;
mod check;
mod deliveries;
mod delivery_json;
mod doctor;
mod document;
mod door;
mod event_json;
mod events;
mod fixtures;
mod gate;
mod glances;
mod handshakes;
mod history;
mod host;
mod input;
mod jobs;
mod listen;
mod live;
mod marks;
mod metrics;
mod open_page;
mod origin;
mod private_file;
mod problem;
mod providers;
mod refusals;
mod retention;
mod router;
mod samples;
mod search;
mod searches;
mod secrets;
mod server;
mod session;
mod socket;
mod sources;
mod start_error;
mod stats;
mod sync;
mod targets;
mod test_keys;
mod token;
mod trash;
mod tunnels;
mod unquoted;
mod verdict;
mod wanted;
mod withheld;

pub use delivery_json::{AttemptJson, DeliveryJson};
pub use door::{BoxBody, Door};
pub use event_json::EventJson;
pub use gate::Gate;
pub use hookmitt_engine::{Checked, Paused, Restoring, looks_like_variable};
pub use hookmitt_event::Actor;
pub use host::{Host, HostOptions};
pub use problem::Problem;
pub use router::openapi;
pub use start_error::StartError;
pub use withheld::Withheld;
