//! Headers that a proxy or a gateway renamed.

use hookmitt_event::HeaderLines;

use crate::{place::Place, request_view::RequestView, scheme::Scheme, signature::Signed};

use super::{finding::Finding, trial::Trial};

/// The prefixes that gateways put before a header name.
const PREFIXES: [&str; 9] = [
    "http-",
    "x-original-",
    "x-forwarded-",
    "x-amzn-remapped-",
    "x-orig-",
    "original-",
    "forwarded-",
    "x-proxy-",
    "x-",
];
/// Headers that never carry a webhook signature.
const PLAIN: [&str; 12] = [
    "host",
    "content-type",
    "content-length",
    "user-agent",
    "connection",
    "accept",
    "accept-encoding",
    "date",
    "via",
    "x-forwarded-for",
    "x-real-ip",
    "transfer-encoding",
];
/// Shorter values are not signatures. In bytes.
const SHORTEST: usize = 16;

/// Looks for the signature under another header name.
pub(crate) fn find(trial: &mut Trial<'_>, view: RequestView<'_>) -> Option<Finding> {
    let restored = restored(view.headers)?;
    let other = RequestView { headers: &restored, ..view };
    let schemes = trial.schemes;
    let mut likely = None;
    for scheme in schemes {
        let Some((wanted, seen)) = moved(scheme, &view, &other) else { continue };
        if trial.fits(scheme, other) {
            return Some(finding(trial.sender, &wanted, &seen, true));
        }
        likely = likely.or_else(|| Some(finding(trial.sender, &wanted, &seen, false)));
    }
    by_value(trial, view).or(likely)
}

/// Returns the first of a scheme's headers that is there only under another name, and that other name.
fn moved(scheme: &Scheme, view: &RequestView<'_>, other: &RequestView<'_>) -> Option<(String, String)> {
    Signed::find(scheme, *other)?;
    let places = scheme.signature.iter().chain(&scheme.timestamp).chain(&scheme.message_id);
    let moved = |place: &&Place| place.read(view).is_none() && place.read(other).is_some();
    let place =
        places.chain(scheme.content.places()).chain(scheme.when.iter().map(|it| &it.place)).find(moved)?;
    let wanted = place.header()?;
    let value = place.read(other)?;
    let seen = view.headers.iter().find(|line| {
        *line.value == *value && forms(line.name).iter().any(|it| it.eq_ignore_ascii_case(wanted))
    })?;
    Some((wanted.to_owned(), seen.name.to_owned()))
}

/// Looks for a header of any other name whose value is the signature.
fn by_value(trial: &mut Trial<'_>, view: RequestView<'_>) -> Option<Finding> {
    let schemes = trial.schemes;
    for scheme in schemes {
        let Some(wanted) = scheme.signature.first().and_then(Place::header) else { continue };
        for line in view.headers.iter() {
            let plain = PLAIN.iter().any(|name| name.eq_ignore_ascii_case(line.name));
            if plain || line.value.len() < SHORTEST || line.name.eq_ignore_ascii_case(wanted) {
                continue;
            }
            let headers = with_line(view.headers, wanted, line.value)?;
            if trial.fits(scheme, RequestView { headers: &headers, ..view }) {
                return Some(finding(trial.sender, wanted, line.name, true));
            }
        }
    }
    None
}

/// Returns the header lines as received, followed by each line under the names that it may have had.
fn restored(headers: &HeaderLines) -> Option<HeaderLines> {
    let own: Vec<_> = headers.iter().map(|line| (line.name.to_owned(), line.value.to_vec())).collect();
    let mut all = own.clone();
    for (name, value) in &own {
        for form in forms(name) {
            if all.iter().all(|(known, _)| !known.eq_ignore_ascii_case(&form)) {
                all.push((form, value.clone()));
            }
        }
    }
    HeaderLines::from_pairs(all).ok()
}

/// Returns the names that a header may have had before it was renamed.
fn forms(name: &str) -> Vec<String> {
    let dashed = name.to_ascii_lowercase().replace('_', "-");
    let mut all = vec![dashed.clone()];
    for prefix in PREFIXES {
        if let Some(rest) = dashed.strip_prefix(prefix).filter(|rest| !rest.is_empty()) {
            all.extend([rest.to_owned(), format!("x-{rest}")]);
        }
    }
    all
}

/// Returns the header lines with another value for one header.
pub(crate) fn with_line(headers: &HeaderLines, name: &str, value: &[u8]) -> Option<HeaderLines> {
    let others = headers.iter().filter(|line| !line.name.eq_ignore_ascii_case(name));
    let others = others.map(|line| (line.name.to_owned(), line.value.to_vec()));
    HeaderLines::from_pairs(others.chain([(name.to_owned(), value.to_vec())])).ok()
}

fn finding(sender: &str, wanted: &str, seen: &str, proven: bool) -> Finding {
    let finding = if proven {
        Finding::proven("header_renamed", format!("It verifies with {seen} read as {wanted}"))
    } else {
        Finding::likely("header_renamed", format!("{seen} looks like {wanted}"))
    };
    finding
        .titled("Header renamed")
        .saying(
            format!("{sender}'s {wanted} header arrived as {seen}: something on the way renamed it."),
            format!("Configure the proxy or gateway to keep the name {wanted}."),
        )
        .sentence(format!("the header {wanted} arrived as {seen}"))
        .fitting(format!("With {wanted}"))
}
