//! One scheme as a row of a table.

use toml::Table;

use crate::{
    files::{flag, inner, list, number, text},
    words::{self, algorithm, all_of, code, conditions, key, one_of, place},
};

pub(crate) const HEAD: &str = "| scheme | algorithm | where | what is signed | key | timestamp and tolerance |\n\
                               |---|---|---|---|---|---|\n";

pub(crate) fn scheme_row(scheme: &Table) -> String {
    let cells =
        [named(scheme), made_with(scheme), stands(scheme), signed(scheme), key_words(scheme), clock(scheme)];
    words::row(&cells)
}

fn named(scheme: &Table) -> String {
    let when = list(scheme, "when");
    let id = code(text(scheme, "id"));
    let id = match flag(scheme, "older") {
        Some(true) => format!("{id}, only if chosen in the settings"),
        _ => id,
    };
    if when.is_empty() { id } else { format!("{id}, if {}", conditions(&when)) }
}

/// Describes the algorithm and the encoding of its bytes.
pub(crate) fn made_with(scheme: &Table) -> String {
    let name = algorithm(text(scheme, "algorithm"));
    match text(scheme, "encoding") {
        "hex" if flag(scheme, "upper") == Some(true) => format!("{name}, hex in either case"),
        encoding @ ("hex" | "base64" | "base64url") => format!("{name}, {encoding}"),
        _ => name.to_owned(),
    }
}

/// Describes the places of the signature and its format.
pub(crate) fn stands(scheme: &Table) -> String {
    let places: Vec<_> = list(scheme, "signature").into_iter().map(place).collect();
    let version = text(scheme, "version");
    let written = match text(scheme, "format") {
        "fields" => format!(", in its field {}", code(&format!("{version}="))),
        "list" => format!(", each as {}", code(&format!("{version},…"))),
        _ => prefixes(scheme),
    };
    let announced = list(scheme, "announced");
    let mut announced = match announced.is_empty() {
        true => String::new(),
        false => format!("; announced by {}", conditions(&announced)),
    };
    if let Some(named) = inner(scheme, "named") {
        let element = Some(text(named, "element")).filter(|element| !element.is_empty());
        let element = element.map(|element| format!("{} in ", code(element))).unwrap_or_default();
        announced +=
            &format!("; {element}{} may name only {}", place(text(named, "at")), code(text(named, "is")));
    }
    match (places.is_empty(), flag(scheme, "every")) {
        (true, _) => "nowhere".to_owned(),
        (_, Some(true)) => format!("{}, each with its own key{written}{announced}", all_of(&places)),
        _ => format!("{}{written}{announced}", one_of(&places)),
    }
}

fn prefixes(scheme: &Table) -> String {
    let own = Some(text(scheme, "prefix")).filter(|prefix| !prefix.is_empty());
    let known: Vec<_> = own.into_iter().chain(list(scheme, "prefixes")).collect();
    let shown: Vec<_> = known.iter().filter(|prefix| !prefix.is_empty()).map(|prefix| code(prefix)).collect();
    match (shown.is_empty(), known.contains(&"")) {
        (true, _) => String::new(),
        (false, true) => format!(", after {} or nothing", one_of(&shown)),
        (false, false) => format!(", after {}", one_of(&shown)),
    }
}

fn signed(scheme: &Table) -> String {
    let content = text(scheme, "content");
    let content = match text(scheme, "special") {
        "adyen" => "eight fields of each item, joined by colons".to_owned(),
        "contentful" => "method, path and query, the listed headers, and the body, each on a line".to_owned(),
        "sns" => "the message's fields, name and value each on a line".to_owned(),
        "braintree" if content.starts_with("{form:") => {
            "the form field `bt_payload`, one signature for each public key".to_owned()
        }
        _ if text(scheme, "algorithm") == "token" => {
            "nothing: anyone who knows the token can send".to_owned()
        }
        _ if content.is_empty() => "—".to_owned(),
        _ => code(content),
    };
    let claims = inner(scheme, "jwt").map(claims).unwrap_or_default();
    let hash = text(scheme, "body_hash");
    let hash =
        if hash.is_empty() { String::new() } else { format!("; {} is the body's SHA-256", place(hash)) };
    let hash = format!("{hash}{}", other_forms(scheme));
    match claims.is_empty() {
        true => format!("{content}{hash}"),
        false => format!("{}{hash}", all_of(&claims)),
    }
}

fn other_forms(scheme: &Table) -> &'static str {
    match (text(scheme, "url_forms"), text(scheme, "body_forms")) {
        ("ports", _) => "; the URL with or without its default port",
        ("decoded", _) => "; the URL with or without some percent escapes decoded",
        (_, "escaped") => "; the body as is, or with `/` and everything beyond ASCII escaped",
        _ => "",
    }
}

fn claims(jwt: &Table) -> Vec<String> {
    let issuers: Vec<_> = list(jwt, "issuers").into_iter().map(code).collect();
    let mut claims = Vec::new();
    if !issuers.is_empty() {
        claims.push(format!("`iss` is {}", one_of(&issuers)));
    }
    match text(jwt, "body_hash") {
        "" => claims.push("not the body".to_owned()),
        claim => claims.push(format!("{} is the body's SHA-256", code(claim))),
    }
    for (claim, setting) in [("aud", text(jwt, "audience")), ("email", text(jwt, "email"))] {
        if !setting.is_empty() {
            claims.push(format!("{} is the setting {}", code(claim), code(setting)));
        }
    }
    if flag(jwt, "expires") == Some(true) {
        claims.push("`exp` has not passed".to_owned());
    }
    claims
}

fn key_words(scheme: &Table) -> String {
    let words = match text(scheme, "algorithm") {
        "none" => "—",
        _ => key(text(scheme, "key")),
    };
    let hosts: Vec<_> = list(scheme, "key_hosts").into_iter().map(code).collect();
    match text(scheme, "key_url") {
        "" => words.to_owned(),
        url if url.starts_with("https://") => format!("{words}, published at <{url}>"),
        at => format!("{words}, published at the URL in {}, on {} only", place(at), one_of(&hosts)),
    }
}

fn clock(scheme: &Table) -> String {
    let stamps: Vec<_> = list(scheme, "timestamp").into_iter().map(place).collect();
    let clock = inner(scheme, "clock");
    let unit = match clock.map(|clock| text(clock, "unit")).unwrap_or_default() {
        "ms" => "Unix milliseconds",
        "rfc3339" => "RFC 3339",
        _ => "Unix seconds",
    };
    let age = match clock.and_then(|clock| number(clock, "tolerance_s")).filter(|seconds| *seconds > 0) {
        Some(seconds) => format!("{seconds} s"),
        None => "age not checked".to_owned(),
    };
    let future = match clock.and_then(|clock| flag(clock, "future_checked")) {
        Some(true) => ", in both directions",
        _ => "",
    };
    let stamp = stamps.first().cloned().unwrap_or_else(|| "the token".to_owned());
    match clock {
        None if stamps.is_empty() => "none".to_owned(),
        None => format!("{stamp}; {age}"),
        Some(_) => format!("{stamp}, {unit}; {age}{future}"),
    }
}
