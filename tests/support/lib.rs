//! What the stories share: hookmitt in this process or in its own, HTTP on a socket, and servers that record requests.

mod app;
mod authority;
mod balancer;
mod between;
mod command;
mod connection;
mod deliveries;
#[cfg(target_os = "linux")]
mod desk;
mod fake_clock;
mod inbox_maker;
mod live;
mod load;
mod local_server;
mod modules;
mod nats;
mod outside;
mod planted;
mod process;
#[cfg(target_os = "linux")]
mod processes;
mod provider_api;
mod provider_host;
mod proxy;
mod relay;
#[cfg(target_os = "linux")]
mod screen;
mod sdk;
mod seed;
mod senders;
mod serve;
mod skip;
mod store_clock;
mod stored;
mod tls;
mod wait;
#[cfg(target_os = "linux")]
mod web_driver;
mod wire;
#[cfg(unix)]
mod year;

pub use app::App;
pub use authority::Authority;
pub use balancer::Balancer;
pub use between::{Between, Cut, Weather};
pub use command::{Serving, hookmitt};
pub use connection::Connection;
pub use deliveries::Down;
#[cfg(target_os = "linux")]
pub use desk::{Desk, binary};
pub use fake_clock::{CLOCK_STEPS, FakeClock};
pub use inbox_maker::{ABSENT_WORD, COMMON_WORD, Filled, Plan, RARE_WORD, Sizes, fill_inbox};
pub use live::Live;
pub use load::{Acknowledged, Load};
pub use local_server::{Answer, LocalServer, Seen};
pub use modules::{Modules, circles};
pub use nats::{Cluster, free_port, server as nats_server};
pub use outside::{Programs, QuickUrl, SmeeChannel};
pub use planted::Planted;
pub use process::{Process, Ran};
#[cfg(target_os = "linux")]
pub use processes::{Watcher, command_lines};
pub use provider_api::{ApiAnswer, ApiCall, ProviderApi, Trouble};
pub use provider_host::ProviderHost;
pub use proxy::Proxy;
pub use relay::{Came, Device, Line, RelayProcess, offer, open_tunnel, relay_token};
#[cfg(target_os = "linux")]
pub use screen::Screen;
pub use sdk::{Language, MORE_SDKS, Peer, Receiver, SDKS, report, sdk_lists};
pub use seed::{say, seed};
pub use senders::signature;
pub use serve::{Server, serve, serve_on, under};
pub use skip::{lacking, shared};
pub use store_clock::turn_store_clock;
pub use stored::Stored;
pub use tls::{Secured, secured, secured_from};
pub use wait::{eventually, within};
#[cfg(target_os = "linux")]
pub use web_driver::{WebDriver, descendants};
pub use wire::{Reply, exchange, parse_reply, post, read_reply, request};
#[cfg(unix)]
pub use year::{Week, use_for};
