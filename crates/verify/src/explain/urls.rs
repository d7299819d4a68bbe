//! Finds the URL that the provider may have called, starting from the URL that arrived.

use sha2::{Digest as _, Sha256};

use crate::{
    place::Place,
    request_view::RequestView,
    scheme::{Special, UrlForms},
    signature::Signed,
};

use super::{
    called_urls::{self, Url, host, is_local},
    finding::Finding,
    trial::Trial,
};

/// The maximum number of URLs that are tried.
const MOST: usize = 2500;

/// Looks for a URL or a method that matches the signature.
pub(crate) fn find(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let scheme = signed.scheme;
    if !scheme.signs_url() {
        return None;
    }
    let view = signed.parts.view;
    let called = view.url.unwrap_or_default().to_owned();
    for url in called_urls::all(trial, signed).into_iter().take(MOST) {
        if url != called && trial.fits(scheme, RequestView { url: Some(&url), ..view }) {
            return Some(mismatch(trial.sender, &url, &called));
        }
    }
    for method in ["POST", "GET", "PUT", "PATCH", "DELETE"] {
        let signs = scheme.content.has_method() || scheme.special == Some(Special::Contentful);
        if signs && method != view.method && trial.fits(scheme, RequestView { method, ..view }) {
            return Some(other_method(trial.sender, method, view.method));
        }
    }
    without_hash(trial, signed)
}

/// Finds a URL whose query lost the body's hash (Twilio): with the hash added, the scheme that reads it there matches.
fn without_hash(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let all = trial.inquiry.provider.map_or(&[][..], |provider| &provider.schemes);
    let view = signed.parts.view;
    let called = view.url?;
    let hash = hex::encode(Sha256::digest(view.body));
    for scheme in all {
        let Some(Place::Query(name)) = &scheme.body_hash else { continue };
        let mark = if called.contains('?') { '&' } else { '?' };
        let url = format!("{called}{mark}{name}={hash}");
        if trial.fits(scheme, RequestView { url: Some(&url), ..view }) {
            return Some(mismatch(trial.sender, &url, called).titled("Query cut off"));
        }
    }
    None
}

/// Finds a known URL that can't be the one that was called, if nothing could be proven.
pub(crate) fn unknown(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let scheme = signed.scheme;
    if !scheme.content.has_url() {
        return None;
    }
    let url = signed.parts.view.url.unwrap_or_default();
    let evidence = match Url::read(url) {
        None => "The URL that was called is unknown".to_owned(),
        Some(url) if is_local(url.authority) => {
            format!("{} can only be reached from this machine", url.authority)
        }
        // Twilio signs the URL in its console, and routers remove query parameters that they don't know.
        Some(url) if scheme.url_forms == Some(UrlForms::Ports) && url.query.is_none() => {
            "It arrived without a query, which may have been cut off".to_owned()
        }
        Some(_) => return None,
    };
    let sender = trial.sender;
    Some(
        Finding::likely("url_mismatch", evidence)
            .saying(
                format!("{sender} signs the URL that it calls, and no known URL fits."),
                format!("Set the source's public URL to exactly what {sender} is configured to call."),
            )
            .sentence(format!("{sender} signs the URL that it calls, which is unknown here"))
            .detail("A tunnel or proxy hides it. Set the public URL so that the signature can be verified."),
    )
}

fn mismatch(sender: &str, signed: &str, called: &str) -> Finding {
    let differs = difference(signed, called);
    Finding::proven("url_mismatch", format!("Signed for {signed}"))
        .titled("Signed for another URL")
        .saying(
            format!("{sender} signed the URL {signed}, but the request arrived as {called}: {differs}."),
            format!(
                "Use the URL that {sender} calls: trust X-Forwarded-Proto and X-Forwarded-Host, or set the \
                     public URL."
            ),
        )
        .sentence(format!("signed for {signed}, called at {called}"))
        .detail(format!("Secret, sender and body are right; in the URL, {differs}."))
        .fitting(format!("For {signed}"))
}

fn other_method(sender: &str, signed: &str, called: &str) -> Finding {
    Finding::proven("url_mismatch", format!("It verifies with {signed} as the method"))
        .titled("Another method")
        .saying(
            format!("{sender} signed the method {signed}, but the request arrived as {called}."),
            "Look for a redirect or gateway that changes the method.",
        )
        .sentence(format!("signed for the method {signed}, called with {called}"))
        .fitting(format!("For {signed}"))
}

/// Describes the difference between two URLs.
fn difference(signed: &str, called: &str) -> String {
    let (Some(signed), Some(called)) = (Url::read(signed), Url::read(called)) else {
        return "it was unknown".to_owned();
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
