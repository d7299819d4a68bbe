//! The URLs that a provider may have called, according to the request and its surroundings.

use hookmitt_event::HeaderLines;

use crate::{
    form::{self, Style},
    signature::Signed,
};

use super::trial::Trial;

/// The parts of a URL, as they are written.
pub(crate) struct Url<'u> {
    pub(crate) scheme: &'u str,
    pub(crate) authority: &'u str,
    pub(crate) path: &'u str,
    pub(crate) query: Option<&'u str>,
}

impl<'u> Url<'u> {
    /// Splits a URL into its parts; `None` if it has no scheme.
    pub(crate) fn read(url: &'u str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        let (path, query) = split_target(target);
        Some(Self { scheme, authority, path, query })
    }
}

fn split_target(target: &str) -> (&str, Option<&str>) {
    target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)))
}

/// Removes the port from an authority.
pub(crate) fn host(authority: &str) -> &str {
    let port = authority.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    port.map_or(authority, |(host, _)| host)
}

/// Whether a host can be reached only from its own machine or network.
pub(crate) fn is_local(authority: &str) -> bool {
    let host = host(authority).trim_matches(['[', ']']);
    let private = |address: std::net::IpAddr| match address {
        std::net::IpAddr::V4(address) => address.is_loopback() || address.is_private(),
        std::net::IpAddr::V6(address) => address.is_loopback(),
    };
    host.eq_ignore_ascii_case("localhost") || !host.contains(['.', ':']) || host.parse().is_ok_and(private)
}

/// Returns every URL worth trying: the known ones first, then those with the fewest changes.
pub(crate) fn all(trial: &Trial<'_>, signed: &Signed<'_>) -> Vec<String> {
    let view = signed.parts.view;
    let mut all: Vec<String> = trial.context.urls.to_vec();
    let request = trial.inquiry.request;
    let own = view.url.unwrap_or_default();
    let own_target = request.path_and_query();
    let base = Url::read(own).unwrap_or(Url { scheme: "https", authority: "", path: "", query: None });
    let whole = signed.scheme.content.has_url();
    let authorities =
        if whole { authorities(base.authority, view.headers) } else { vec![base.authority.to_owned()] };
    let schemes: Vec<&str> = match (whole, base.scheme) {
        (false, only) => vec![only],
        (true, "http") => vec!["http", "https"],
        (true, _) => vec!["https", "http"],
    };
    let mut targets: Vec<&str> = vec![&own_target];
    for name in [
        "x-original-uri",
        "x-original-url",
        "x-forwarded-uri",
        "x-rewrite-url",
        "x-forwarded-path",
        "x-envoy-original-path",
    ] {
        targets.extend(view.headers.get_str(name).filter(|value| value.starts_with('/')));
    }
    let of_urls: Vec<Url<'_>> = trial.context.urls.iter().filter_map(|url| Url::read(url)).collect();
    let mut paths = vec![base.path.to_owned()];
    let mut queries = vec![base.query.map(str::to_owned)];
    for target in targets {
        let (path, query) = split_target(target);
        add(&mut paths, path.to_owned());
        add(&mut queries, query.map(str::to_owned));
    }
    for url in &of_urls {
        add(&mut paths, url.path.to_owned());
    }
    more_paths(&mut paths, view.headers);
    more_queries(&mut queries);
    all.extend(combined(&schemes, &authorities, &paths, &queries));
    all
}

/// Returns every combination. Those with the fewest changes come first, and among these the likelier ones.
fn combined(
    schemes: &[&str],
    authorities: &[String],
    paths: &[String],
    queries: &[Option<String>],
) -> impl Iterator<Item = String> {
    let mut all = Vec::new();
    for (s, scheme) in schemes.iter().enumerate() {
        for (a, authority) in authorities.iter().enumerate() {
            for (p, path) in paths.iter().enumerate() {
                for (q, query) in queries.iter().enumerate() {
                    let changes = [s, a, p, q].iter().filter(|at| **at > 0).count();
                    let query = query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
                    all.push((changes, s + a + p + q, format!("{scheme}://{authority}{path}{query}")));
                }
            }
        }
    }
    all.sort_by_key(|(changes, steps, _)| (*changes, *steps));
    all.into_iter().map(|(.., url)| url)
}

fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// Returns the hosts that the headers name, with and without ports.
fn authorities(own: &str, headers: &HeaderLines) -> Vec<String> {
    let mut all = vec![own.to_owned()];
    let mut ports: Vec<&str> = Vec::new();
    for name in ["x-forwarded-host", "x-original-host", "host", "x-host", "x-forwarded-server"] {
        let value = headers.get_str(name).and_then(|value| value.split(',').next()).map(str::trim);
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            add(&mut all, value.to_owned());
        }
    }
    if let Some(forwarded) = headers.get_str("forwarded") {
        let hosts = forwarded.split([',', ';']).filter_map(|part| part.trim().strip_prefix("host="));
        hosts.for_each(|host| add(&mut all, host.trim_matches('"').to_owned()));
    }
    ports.extend(headers.get_str("x-forwarded-port").map(str::trim));
    ports.extend(["443", "80", "8443", "8080"]);
    for known in all.clone() {
        let bare = host(&known).to_owned();
        add(&mut all, bare.clone());
        for port in
            ports.iter().filter(|port| !bare.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
        {
            add(&mut all, format!("{bare}:{port}"));
        }
    }
    all.truncate(16);
    all
}

fn more_paths(paths: &mut Vec<String>, headers: &HeaderLines) {
    let prefix = headers.get_str("x-forwarded-prefix").map(|prefix| prefix.trim_end_matches('/'));
    for path in paths.clone() {
        if let Some(prefix) = prefix.filter(|prefix| prefix.starts_with('/')) {
            add(paths, format!("{prefix}{path}"));
        }
        let other = match path.strip_suffix('/') {
            Some(rest) => rest.to_owned(),
            None => format!("{path}/"),
        };
        add(paths, other);
        let mut rest = path.as_str();
        for _ in 0..3 {
            let Some(at) = rest.get(1..).and_then(|tail| tail.find('/')) else { break };
            rest = &rest[at + 1..];
            add(paths, rest.to_owned());
        }
    }
    paths.truncate(24);
}

fn more_queries(queries: &mut Vec<Option<String>>) {
    for query in queries.clone().into_iter().flatten() {
        let mut pairs: Vec<&str> = query.split('&').collect();
        pairs.reverse();
        add(queries, Some(pairs.join("&")));
        pairs.sort_unstable();
        add(queries, Some(pairs.join("&")));
        let fields: Vec<_> = form::pairs(query.as_bytes())
            .map(|(name, value)| (form::decode(name).into_owned(), form::decode(value).into_owned()))
            .collect();
        if fields.len() <= 4 {
            for order in orders(fields.len()) {
                let joined: Vec<_> = order.iter().filter_map(|at| query.split('&').nth(*at)).collect();
                add(queries, Some(joined.join("&")));
            }
        }
        for style in Style::all().take(14) {
            let mut written = Vec::new();
            for (name, value) in &fields {
                if !written.is_empty() {
                    written.push(b'&');
                }
                style.encode(name, &mut written);
                written.push(b'=');
                style.encode(value, &mut written);
            }
            add(queries, String::from_utf8(written).ok());
        }
    }
    add(queries, None);
    queries.truncate(40);
}

/// Returns all permutations of `0..count`.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..count {
        all = all
            .into_iter()
            .flat_map(|order: Vec<usize>| {
                let rest: Vec<_> = (0..count).filter(|at| !order.contains(at)).collect();
                rest.into_iter().map(move |at| [&order[..], &[at]].concat()).collect::<Vec<_>>()
            })
            .collect();
    }
    all
}
