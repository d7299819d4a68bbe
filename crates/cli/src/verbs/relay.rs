//! `hookmitt relay`: the public server of tunnels, in one process.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    num::NonZeroU32,
    path::{Path, PathBuf},
    time::Duration,
};

use hookmitt_catch::{Bound, ListenError, bind};
use hookmitt_event::Explain as _;
use hookmitt_mailbox::{Mailbox, Quota};
use hookmitt_relay::{Options, Ports, PublicUrl, Tls, serve};
use ipnet::IpNet;
use tokio_util::sync::CancellationToken;

use crate::{
    failure::{CliError, Exit},
    log::log_of_server,
    moment::Span,
    stop::Stop,
    terminal::{FAINT, Screen, Styled},
    verbs::{
        relay_acme,
        relay_store::{Opened, StoreName},
        relay_token,
    },
};

/// The shortest allowed idle time. The presence of a device is stored only about every minute (SQLite) or ten minutes
/// (NATS), so a device may be connected though it was last seen minutes ago.
const SHORTEST_IDLE: Duration = Duration::from_secs(60 * 60);

/// What `relay` takes.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    flags: Flags,
}

/// What to do beside serving.
#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Create, list and revoke the tokens that open tunnels
    #[command(subcommand)]
    Token(relay_token::Verb),
}

/// Where to serve, and what is borne.
#[derive(Debug, clap::Args)]
struct Flags {
    /// The address to listen on; port 0 picks a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:4410")]
    listen: SocketAddr,
    /// The public URL of this relay, such as https://relay.example.com
    #[arg(long, value_name = "URL")]
    public_url: Option<PublicUrl>,
    /// Also give each tunnel its own host name: <tunnel>.relay.example.com (needs wildcard DNS and a wildcard certificate)
    #[arg(long, requires = "public_url")]
    wildcard: bool,
    /// Where mailboxes are stored: sqlite:PATH or nats://…; by default HOOKMITT_RELAY_STORE, else relay.db in the data directory
    #[arg(long, value_name = "STORE")]
    store: Option<StoreName>,
    /// The TLS certificate chain, as PEM; reloaded when it changes
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Its private key, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    #[command(flatten)]
    acme: relay_acme::AcmeFlags,
    /// A proxy whose forwarding headers are trusted, such as 127.0.0.1 or 10.0.0.0/8; repeatable
    #[arg(long, value_name = "CIDR", value_parser = network)]
    trusted_proxy: Vec<IpNet>,
    /// The most events that may wait in one tunnel
    #[arg(long, value_name = "N", default_value_t = Quota::default().letters)]
    quota_events: u64,
    /// The most bytes that may wait in one tunnel
    #[arg(long, value_name = "BYTES", default_value_t = Quota::default().bytes)]
    quota_bytes: u64,
    /// The longest time that an event waits
    #[arg(long, value_name = "TIME", default_value = "30d")]
    quota_age: Span,
    /// How long a device may stay away before it expires; at least 1h
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = idle)]
    device_idle: Span,
    /// How many devices one tunnel may have
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=256))]
    devices: u16,
    /// The requests per second that one tunnel may receive on average; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    rate: u32,
    /// How many requests above that one tunnel may receive in a burst
    #[arg(long, value_name = "N", default_value = "20000")]
    burst: NonZeroU32,
    /// The tunnels per minute that one token may open on average, or twice as many in a burst; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = 10)]
    openings: u32,
    /// How long a sender waits for the app's own answer
    #[arg(long, value_name = "TIME", default_value = "2500ms")]
    hold: Span,
    /// A private address for metrics (Prometheus), such as 127.0.0.1:9410
    #[arg(long, value_name = "ADDR")]
    metrics: Option<SocketAddr>,
    /// Write logs as one JSON object per line
    #[arg(long)]
    log_json: bool,
}

/// Sets up the log. Nobody watches a server, so its log is meant for a file. It contains no bodies, tokens or whole
/// URLs.
pub(crate) fn log(args: &Args) {
    let usual = if args.verb.is_some() { "warn" } else { "warn,hookmitt_relay=info,hookmitt_mailbox=info" };
    log_of_server(usual, args.flags.log_json);
}

/// Reads a network. An address without a prefix length is a network of one.
fn network(text: &str) -> Result<IpNet, String> {
    let alone = || text.parse().map(|ip: std::net::IpAddr| IpNet::from(ip)).ok();
    text.parse()
        .ok()
        .or_else(alone)
        .ok_or_else(|| "not an address or a network such as 10.0.0.0/8".to_owned())
}

/// Reads a duration of at least [`SHORTEST_IDLE`].
fn idle(text: &str) -> Result<Span, String> {
    let span: Span = text.parse()?;
    let short = "too short, because connected devices are recorded only every few minutes: use 1h or more";
    if span.0 < SHORTEST_IDLE { Err(short.to_owned()) } else { Ok(span) }
}

/// Listens on the address of a flag.
fn take(flag: &str, address: SocketAddr) -> Result<Bound, CliError> {
    bind(Some(&address.ip().to_string()), address.port()).map_err(|error| {
        let hint = match &error {
            ListenError::Taken { .. } => {
                Some(format!("stop it, or choose another address with {flag}; port 0 picks a free one"))
            }
            _ => error.hint(),
        };
        CliError::Unreached { code: error.code(), message: error.to_string(), hint }
    })
}

/// Whether only this machine or a private network can reach an address.
fn is_private(address: SocketAddr) -> bool {
    match address.ip().to_canonical() {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_private() || ip.is_link_local() || is_shared(ip),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
    }
}

/// Whether an address is in 100.64.0.0/10, which is used behind a carrier's NAT and in overlay networks.
fn is_shared(ip: Ipv4Addr) -> bool {
    ip.octets()[0] == 100 && ip.octets()[1] & 0xc0 == 0x40
}

/// Runs the command.
pub(crate) async fn run(args: &Args, data_dir: &Path, screen: &Screen) -> Result<Exit, CliError> {
    match &args.verb {
        Some(Verb::Token(verb)) => relay_token::run(verb, data_dir, screen).await,
        None => Box::pin(relay(&args.flags, data_dir, screen)).await,
    }
}

async fn relay(flags: &Flags, data_dir: &Path, screen: &Screen) -> Result<Exit, CliError> {
    let mut stop = Stop::watch().map_err(CliError::signals)?;
    let tls = match (&flags.tls_cert, &flags.tls_key) {
        (Some(chain), Some(key)) => {
            Some(Tls::of_files(chain, key).map_err(|error| CliError::explained(&error))?)
        }
        _ => flags.acme.tls(flags.public_url.as_ref(), flags.wildcard, data_dir)?,
    };
    let metrics = flags.metrics.map(|address| take("--metrics", address)).transpose();
    let ports = Ports { public: take("--listen", flags.listen)?, metrics: metrics? };
    if let Some(address) = flags.metrics.filter(|address| !is_private(*address)) {
        tracing::warn!("anyone who can reach --metrics {address} can read it: it asks for no token");
    }
    match StoreName::open(flags.store.as_ref(), data_dir).await? {
        Opened::Sqlite(store) => {
            let _alone = store.alone().map_err(|error| CliError::unreached(&error))?;
            go(store, flags, ports, tls, &mut stop, screen).await;
        }
        Opened::Nats(store) => {
            screen.note(store.power_cut());
            if let Some(hint) = flags.acme.beside_others() {
                screen.note(hint);
            }
            go(store, flags, ports, tls, &mut stop, screen).await;
        }
    }
    Ok(Exit::Success)
}

async fn go<M: Mailbox>(
    store: M,
    flags: &Flags,
    ports: Ports,
    tls: Option<Tls>,
    stop: &mut Stop,
    screen: &Screen,
) {
    let address = SocketAddr::new(flags.listen.ip(), ports.public.port);
    let options = flags.options(address, tls.is_some());
    screen.note(format_args!("hookmitt relay {}", env!("CARGO_PKG_VERSION")));
    screen.note(format_args!("  relay    {}", options.public));
    screen.note(format_args!("  listens  {address}{}", if tls.is_some() { " (TLS)" } else { "" }));
    if let Some(words) = tls.as_ref().map(certificate) {
        screen.note(format_args!("  tls      {words}"));
    }
    for address in ports.metrics.iter().flat_map(Bound::addresses) {
        screen.note(format_args!("  metrics  http://{address}/metrics"));
    }
    if flags.public_url.is_none() && !address.ip().is_loopback() {
        screen.note("  hint     set this relay's public URL with --public-url");
    }
    let told = CancellationToken::new();
    let serving = serve(store, options, ports, tls, told.clone());
    tokio::pin!(serving);
    tokio::select! {
        () = stop.asked() => {}
        () = &mut serving => return,
    }
    screen.note(Styled(FAINT, "finishing requests in flight; press Ctrl-C again to stop at once"));
    told.cancel();
    stop.finish(serving).await;
}

fn certificate(tls: &Tls) -> String {
    match tls.good_until() {
        Some(until) => format!("the certificate is valid until {until}"),
        None => {
            "no certificate yet: it has been requested, and nobody can connect until it arrives".to_owned()
        }
    }
}

impl Flags {
    fn options(&self, address: SocketAddr, secure: bool) -> Options {
        let public = self.public_url.clone().unwrap_or_else(|| PublicUrl::of_address(address, secure));
        Options {
            wildcard: self.wildcard,
            quota: Quota {
                letters: self.quota_events,
                bytes: self.quota_bytes,
                age: self.quota_age.0,
                idle: self.device_idle.0,
            },
            devices: self.devices.into(),
            rate: NonZeroU32::new(self.rate),
            burst: self.burst,
            openings: NonZeroU32::new(self.openings),
            trusted: self.trusted_proxy.clone(),
            hold: self.hold.0,
            ..Options::new(public)
        }
    }
}
