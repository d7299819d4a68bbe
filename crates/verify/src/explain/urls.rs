//! URLs that would match: what the provider may have called, worked back from what arrived.

use hookmitt_event::HeaderLines;
use sha2::{Digest as _, Sha256};

use crate::{
    form::{self, Style},
    scheme::{Special, UrlForms},
    signature::Signed,
    view::View,
};

use super::{finding::Finding, trial::Trial};

/// More URLs are not tried.
const MOST: usize = 2500;

/// Looks for a URL or a method over which the signature holds.
pub(crate) fn find(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let scheme = signed.scheme;
    if !scheme.signs_url() {
        return None;
    }
    let view = signed.parts.view;
    let called = view.url.unwrap_or_default().to_owned();
    for url in other_urls(trial, signed).into_iter().take(MOST) {
        if url != called && trial.fits(scheme, View { url: Some(&url), ..view }) {
            return Some(mismatch(trial.sender, &url, &called));
        }
    }
    for method in ["POST", "GET", "PUT", "PATCH", "DELETE"] {
        let signs = scheme.content.has_method() || scheme.special == Some(Special::Contentful);
        if signs && method != view.method && trial.fits(scheme, View { method, ..view }) {
            return Some(other_method(trial.sender, method, view.method));
        }
    }
    without_hash(trial, signed)
}

/// The body's hash was in the query, and isn't any more (Twilio): the scheme that reads it there fits.
fn without_hash(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let all = trial.inquiry.provider.map_or(&[][..], |provider| &provider.schemes);
    let view = signed.parts.view;
    let called = view.url?;
    let hash = hex::encode(Sha256::digest(view.body));
    for scheme in all {
        let Some(crate::place::Place::Query(name)) = &scheme.body_hash else { continue };
        let mark = if called.contains('?') { '&' } else { '?' };
        let url = format!("{called}{mark}{name}={hash}");
        if trial.fits(scheme, View { url: Some(&url), ..view }) {
            return Some(mismatch(trial.sender, &url, called).titled("Query was cut"));
        }
    }
    None
}

/// Where nothing proves it, and the URL that is known can't be the one that was called.
pub(crate) fn unknown(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let scheme = signed.scheme;
    if !scheme.content.has_url() {
        return None;
    }
    let url = signed.parts.view.url.unwrap_or_default();
    let evidence = match Url::read(url) {
        None => "The URL that was called is not known".to_owned(),
        Some(url) if is_local(url.authority) => {
            format!("{} is reached from this machine only", url.authority)
        }
        // Twilio signs what its console says, and routers cut what they don't know.
        Some(url) if scheme.url_forms == Some(UrlForms::Ports) && url.query.is_none() => {
            "It arrived without a query, which may have been cut off".to_owned()
        }
        Some(_) => return None,
    };
    let sender = trial.sender;
    Some(
        Finding::likely("url_mismatch", evidence)
            .saying(
                format!("{sender} signs the URL that it called, and none of the known ones fits."),
                format!("Set the source's public URL to exactly what {sender} is configured to call."),
            )
            .sentence(format!("{sender} signs the URL that it called, and that is not known here"))
            .detail("A tunnel or proxy hides it. With the public URL set, the signature can be checked."),
    )
}

fn mismatch(sender: &str, signed: &str, called: &str) -> Finding {
    let differs = difference(signed, called);
    Finding::proven("url_mismatch", format!("Signed for {signed}"))
        .titled("Signed for another URL")
        .saying(
            format!("{sender} signed the URL {signed}, and the request arrived as {called}: {differs}."),
            format!("Rebuild the URL as {sender} calls it: trust X-Forwarded-Proto and X-Forwarded-Host, or configure the public URL."),
        )
        .sentence(format!("signed for {signed}, called at {called}"))
        .detail(format!("Secret, sender and body are right; of the URL {differs}."))
        .fitting(format!("For {signed}"))
}

fn other_method(sender: &str, signed: &str, called: &str) -> Finding {
    Finding::proven("url_mismatch", format!("With {signed} as the method, it verifies"))
        .titled("Another method")
        .saying(
            format!("{sender} signed the method {signed}, and the request arrived as {called}."),
            "Look for a redirect or gateway that changes the method.",
        )
        .sentence(format!("signed for the method {signed}, called with {called}"))
        .fitting(format!("For {signed}"))
}

/// What tells two URLs apart, in words.
fn difference(signed: &str, called: &str) -> String {
    let (Some(signed), Some(called)) = (Url::read(signed), Url::read(called)) else {
        return "it was not known".to_owned();
    };
    let parts = [
        (signed.scheme != called.scheme, format!("{} became {}", signed.scheme, called.scheme)),
        (host(signed.authority) != host(called.authority), "the host differs".to_owned()),
        (
            host(signed.authority) == host(called.authority) && signed.authority != called.authority,
            "the port differs".to_owned(),
        ),
        (signed.path != called.path, "the path differs".to_owned()),
        (signed.query != called.query, "the query differs".to_owned()),
    ];
    let words: Vec<_> = parts.into_iter().filter(|(differs, _)| *differs).map(|(_, words)| words).collect();
    words.join(", ")
}

/// A URL in parts, as they are written.
struct Url<'u> {
    scheme: &'u str,
    authority: &'u str,
    path: &'u str,
    query: Option<&'u str>,
}

impl<'u> Url<'u> {
    fn read(url: &'u str) -> Option<Self> {
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

fn host(authority: &str) -> &str {
    let port = authority.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    port.map_or(authority, |(host, _)| host)
}

fn is_local(authority: &str) -> bool {
    let host = host(authority).trim_matches(['[', ']']);
    let private = |address: std::net::IpAddr| match address {
        std::net::IpAddr::V4(address) => address.is_loopback() || address.is_private(),
        std::net::IpAddr::V6(address) => address.is_loopback(),
    };
    host.eq_ignore_ascii_case("localhost") || !host.contains(['.', ':']) || host.parse().is_ok_and(private)
}

/// Every URL that is worth a try: those with the fewest changes first.
fn other_urls(trial: &Trial<'_>, signed: &Signed<'_>) -> Vec<String> {
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

/// Every combination: the fewest changes first, and of those the likelier ones.
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

/// The hosts that the headers name, with and without ports.
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

/// Every order of so many things.
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
