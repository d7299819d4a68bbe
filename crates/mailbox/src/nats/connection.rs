//! The connection to the servers, and the options in the URL of `--store`.

use std::{path::PathBuf, time::Duration};

use async_nats::{Client, ConnectOptions, jetstream};

use crate::MailboxError;

/// The port of NATS if the URL names none.
const PORT: &str = "4222";

/// The largest message that is sent, with its head, in bytes. A server that takes less can't be used.
const LARGEST: usize = 640 * 1024;

/// How a store on NATS JetStream is reached and laid out.
///
/// `nats://[user:password@]host[:port][,host…][?replicas=3&shards=8&prefix=hookmitt&credentials=FILE&ca=FILE]`;
/// `tls://` requires TLS.
#[derive(Clone, PartialEq, Eq)]
pub struct NatsOptions {
    /// The servers' URLs.
    pub(super) servers: Vec<String>,
    /// How many nodes hold each letter. If `None`: three if the servers are a cluster, one if there is a single server.
    pub(super) replicas: Option<usize>,
    /// Over how many streams mailboxes are spread. Fixed when the store is created.
    pub(super) shards: u16,
    /// The beginning of the names of all streams and subjects, so that several stores can share a cluster.
    pub(super) prefix: String,
    /// A file of NATS credentials (JWT and seed).
    pub(super) credentials: Option<PathBuf>,
    /// A file with the private authority that signed the servers' certificates, if there is one.
    pub(super) ca: Option<PathBuf>,
}

impl NatsOptions {
    /// Reads the options from a URL.
    ///
    /// # Errors
    /// Returns [`MailboxError::Open`] if the URL can't be understood.
    pub fn from_url(url: &str) -> Result<Self, MailboxError> {
        let (servers, query) = url.split_once('?').unwrap_or((url, ""));
        let (scheme, hosts) = servers.split_once("://").ok_or_else(|| wrong(url, "it has no ://"))?;
        if !matches!(scheme, "nats" | "tls") {
            return Err(wrong(url, "its scheme must be nats or tls"));
        }
        let mut options = Self {
            servers: hosts.trim_end_matches('/').split(',').map(|host| server(scheme, host)).collect(),
            replicas: None,
            shards: 8,
            prefix: "hookmitt".to_owned(),
            credentials: None,
            ca: None,
        };
        for (key, value) in url::form_urlencoded::parse(query.as_bytes()) {
            options.set(&key, &value).map_err(|why| wrong(url, &why))?;
        }
        Ok(options)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let number = |most: u16| {
            let number = value.parse().ok().filter(|number| (1..=most).contains(number));
            number.ok_or_else(|| format!("{key} must be a number from 1 to {most}"))
        };
        match key {
            "replicas" => self.replicas = Some(usize::from(number(5)?)),
            "shards" => self.shards = number(64)?,
            "prefix" if is_word(value) => value.clone_into(&mut self.prefix),
            "prefix" => return Err("the prefix may contain only a-z, A-Z, 0-9, - and _".to_owned()),
            "credentials" => self.credentials = Some(value.into()),
            "ca" => self.ca = Some(value.into()),
            _ => {
                return Err(format!(
                    "{key} isn't a setting; use replicas, shards, prefix, credentials or ca"
                ));
            }
        }
        Ok(())
    }

    /// Returns the servers' URLs for display, without user and password.
    pub(super) fn shown(&self) -> String {
        let shown = self.servers.iter().map(|server| without_password(server));
        shown.collect::<Vec<_>>().join(",")
    }
}

impl std::fmt::Debug for NatsOptions {
    /// Leaves out passwords.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("NatsOptions")
            .field("servers", &self.shown())
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

/// Returns whether a name can be one token of a subject.
pub(super) fn is_word(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

fn server(scheme: &str, host: &str) -> String {
    // A list may repeat the scheme for each server, as NATS's own tools write it.
    let host = host.split_once("://").map_or(host, |(_, host)| host);
    let name = host.rsplit_once('@').map_or(host, |(_, name)| name);
    let has_port = name.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let port = if has_port { String::new() } else { format!(":{PORT}") };
    format!("{scheme}://{host}{port}")
}

fn without_password(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
            format!("{scheme}://{host}")
        }
        None => "the URL".to_owned(),
    }
}

fn wrong(url: &str, why: &str) -> MailboxError {
    let servers = url.split_once('?').map_or(url, |(servers, _)| servers);
    let shown = servers.split(',').map(without_password).collect::<Vec<_>>().join(",");
    MailboxError::Open { store: shown, why: why.to_owned() }
}

/// Connects to the servers. Creates nothing there yet.
pub(super) async fn connect(options: &NatsOptions) -> Result<Client, MailboxError> {
    let unusable = |why: String| MailboxError::Open { store: options.shown(), why };
    let mut connect = ConnectOptions::new()
        .name("hookmitt relay")
        .connection_timeout(Duration::from_secs(5))
        .ping_interval(Duration::from_secs(5))
        .request_timeout(Some(Duration::from_secs(3)))
        // A node that comes back is found again soon, and nodes are not flooded with connections.
        .reconnect_delay_callback(|attempts| Duration::from_millis(100 * attempts.min(10) as u64))
        .subscription_capacity(256 * 1024);
    if let Some(file) = &options.credentials {
        let read = tokio::fs::read_to_string(file).await;
        let text = read.map_err(|error| unusable(format!("{}: {error}", file.display())))?;
        connect = connect.credentials(&text).map_err(|error| unusable(error.to_string()))?;
    }
    if let Some(file) = &options.ca {
        connect = connect.add_root_certificates(file.clone());
    }
    connect.connect(&options.servers).await.map_err(|error| unusable(error.to_string()))
}

/// Returns the server's version. Fails if the server takes only smaller messages than needed.
pub(super) fn check(client: &Client, options: &NatsOptions) -> Result<String, MailboxError> {
    let info = client.server_info();
    if info.max_payload < LARGEST {
        let why = format!(
            "the server accepts {} bytes per message; {LARGEST} are needed (max_payload)",
            info.max_payload
        );
        return Err(MailboxError::Open { store: options.shown(), why });
    }
    Ok(info.version)
}

/// Returns the JetStream context for all requests. It waits at most 3 s for an answer.
pub(super) fn context(client: async_nats::Client) -> jetstream::Context {
    jetstream::ContextBuilder::new().timeout(Duration::from_secs(3)).max_ack_inflight(20_000).build(client)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_servers_share_scheme_and_settings() {
        let options =
            NatsOptions::from_url("nats://me:pass@a:4223,nats://b,c:4225/?replicas=1&prefix=two&shards=3")
                .unwrap();
        assert_eq!(options.servers, ["nats://me:pass@a:4223", "nats://b:4222", "nats://c:4225"]);
        assert_eq!((options.replicas, options.shards, options.prefix.as_str()), (Some(1), 3, "two"));
        assert_eq!(options.shown(), "nats://a:4223,nats://b:4222,nats://c:4225");
    }

    #[test]
    fn what_is_wrong_is_said_without_the_password() {
        for url in
            ["http://me:pass@a", "nats://me:pass@a?replicas=9", "nats://me:pass@a?colour=red", "me:pass@a"]
        {
            let refusal = NatsOptions::from_url(url).unwrap_err().to_string();
            assert!(!refusal.contains("pass"), "{refusal}");
        }
    }
}
