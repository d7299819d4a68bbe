//! The page's section about one provider.

use toml::{Table, Value};

use crate::{
    files::{Provider, array, flag, inner, list, number, tables, text},
    page::anchor,
    scheme,
    words::{code, conditions, fact, first_of, one_of, place, prose},
};

pub(crate) fn section(provider: &Provider) -> String {
    // The settings link to the id, but GitHub makes anchors of headings only.
    let own = (anchor(provider.name()) != provider.id).then(|| format!("<a id=\"{}\"></a>\n\n", provider.id));
    let own = own.unwrap_or_default();
    let mut out = format!("{own}## {}\n\n{}\n\n", provider.name(), opening(provider));
    out.push_str(scheme::HEAD);
    provider.schemes().iter().for_each(|scheme| out.push_str(&scheme::scheme_row(scheme)));
    out.push('\n');
    for (name, said) in points(provider) {
        if !said.is_empty() {
            out.push_str(&format!("- **{name}:** {said}\n"));
        }
    }
    let traps = list(&provider.table, "traps");
    if !traps.is_empty() {
        out.push_str("\nTraps:\n\n");
        traps.iter().for_each(|trap| out.push_str(&format!("- {}\n", prose(trap))));
    }
    out.push_str(&format!("\n{}\n", sources(provider)));
    out
}

fn opening(provider: &Provider) -> String {
    let sure = match provider.is_confirmed() {
        true => "signatures **confirmed** by the provider's own code or documents",
        false => "signatures **corroborated only**, by independent third parties",
    };
    let family = provider.family.as_ref().map(|(name, _)| format!(" It signs as {name} does."));
    format!("{}: {sure}.{}", code(&provider.id), family.unwrap_or_default())
}

fn points(provider: &Provider) -> [(&'static str, String); 11] {
    let table = &provider.table;
    [
        ("Recognised by", recognised(provider)),
        ("Secret", prose(text(table, "secret_hint"))),
        ("Settings", settings(table)),
        ("Not covered", left_open(provider)),
        ("Dedupe key", dedupe_key(provider)),
        ("Event type", first_of(&provider.facts("type"))),
        ("Event time", first_of(&provider.facts("time"))),
        ("Handshakes", handshakes(table)),
        ("Bad signatures", bad_signatures(table)),
        ("Retries", retry(provider)),
        ("Samples", samples(provider)),
    ]
}

fn recognised(provider: &Provider) -> String {
    if let Some((family, _)) = &provider.family {
        return format!(
            "nothing of its own: it is recognised as {family} until the source's provider is set"
        );
    }
    let headers: Vec<_> = list(&provider.table, "detect").into_iter().map(code).collect();
    let lists = array(&provider.table, "recognise").iter().filter_map(Value::as_array);
    let rest: Vec<_> =
        lists.map(|all| conditions(&all.iter().filter_map(Value::as_str).collect::<Vec<_>>())).collect();
    let rest = rest.join("; ");
    match (headers.is_empty(), rest.is_empty()) {
        (true, true) => "nothing: set the source's provider".to_owned(),
        (true, false) => rest,
        (false, true) => one_of(&headers),
        (false, false) => format!("{}; otherwise by {rest}", one_of(&headers)),
    }
}

fn settings(table: &Table) -> String {
    let words = |param: &&Table| {
        let needed = if flag(param, "required") == Some(true) { ", required" } else { "" };
        format!("{} ({}{needed})", code(text(param, "name")), prose(text(param, "hint")))
    };
    tables(table, "params").iter().map(words).collect::<Vec<_>>().join(", ")
}

/// Says which part of the body a genuine signature doesn't cover.
fn left_open(provider: &Provider) -> String {
    let mut said: Vec<String> = Vec::new();
    for scheme in provider.schemes() {
        let Some(uncovered) = inner(scheme, "uncovered") else { continue };
        let mut says = prose(text(uncovered, "says"));
        if flag(scheme, "single_use") == Some(true) {
            says += " Another body under the same signed id is a conflict.";
        }
        if !said.contains(&says) {
            said.push(says);
        }
    }
    said.join(" ")
}

fn dedupe_key(provider: &Provider) -> String {
    let ids = provider.facts("id");
    if ids.is_empty() {
        return "none; the same bytes within 5 minutes are flagged, but still forwarded".to_owned();
    }
    let same = match provider.part("retry").and_then(|retry| flag(retry, "same_id")) {
        Some(true) => "; a retry has the same one",
        Some(false) => "; a retry has a different one",
        None => "",
    };
    format!("{}{same}", first_of(&ids))
}

fn handshakes(table: &Table) -> String {
    tables(table, "handshake").iter().map(|one| handshake(one)).collect::<Vec<_>>().join(" ")
}

fn handshake(one: &Table) -> String {
    let asked = format!("{}, recognised by {}", code(text(one, "name")), conditions(&list(one, "when")));
    let mut answered = inner(one, "answer").map_or_else(|| "answered as usual".to_owned(), answer);
    let signed = flag(one, "signed") == Some(true);
    if answered.contains("{hmac-hex:") {
        answered.push_str(&signs(text(one, "challenge"), signed));
    } else if signed {
        answered.push_str(", unless its signature is invalid");
    }
    for (name, words) in [("secret", "it delivers the secret"), ("confirm", "a click calls the URL")] {
        let at = text(one, name);
        if !at.is_empty() {
            answered.push_str(&format!("; {words} in {}", place(at)));
        }
    }
    if let [given, wanted] = list(one, "check")[..] {
        answered.push_str(&format!("; 403 if {} isn't {}", place(given), place(wanted)));
    }
    format!("{asked}: {answered}.")
}

/// Says under which conditions we answer with a text signed with the source's secret.
fn signs(challenge: &str, signed: bool) -> String {
    let valid = if signed { ", its signature is valid" } else { "" };
    let form = match challenge {
        "hex" => "20 to 32 hex digits",
        _ => "at most 128 letters, digits and `_.~-` that aren't signed as an event",
    };
    format!(", only if the source's provider is set{valid} and the challenge is {form}")
}

fn answer(answer: &Table) -> String {
    let headers = array(answer, "headers").iter().filter_map(Value::as_array);
    let headers = headers.filter_map(|pair| Some((pair.first()?.as_str()?, pair.get(1)?.as_str()?)));
    let headers: Vec<_> = headers.map(|(name, value)| code(&format!("{name}: {value}"))).collect();
    let body = match answer.get("body").and_then(Value::as_str) {
        None => String::new(),
        Some("") => ", no body".to_owned(),
        Some(body) => format!(", body {}", code(body)),
    };
    let status = number(answer, "status").unwrap_or(200);
    let with = if headers.is_empty() { String::new() } else { format!(" with {}", headers.join(", ")) };
    format!("{status}{with}{body}")
}

fn bad_signatures(table: &Table) -> String {
    let status = number(table, "invalid_status");
    status.map(|status| format!("requires {status}")).unwrap_or_default()
}

fn retry(provider: &Provider) -> String {
    let Some(retry) = provider.part("retry") else { return "unknown".to_owned() };
    let wait = number(retry, "timeout_s").map(|seconds| format!("it waits {seconds} s for an answer"));
    let policy = Some(prose(text(retry, "policy"))).filter(|policy| !policy.is_empty());
    policy.into_iter().chain(wait).collect::<Vec<_>>().join("; ")
}

fn samples(provider: &Provider) -> String {
    let events = provider.part("sample").map(|sample| tables(sample, "events")).unwrap_or_default();
    let types: Vec<_> = events.iter().map(|event| code(text(event, "type"))).collect();
    types.join(", ")
}

fn sources(provider: &Provider) -> String {
    let linked = |source: &&str| match source.starts_with("https://") && !source.contains(' ') {
        true => format!("<{source}>"),
        false => code(source),
    };
    let read = list(&provider.table, "evidence").iter().map(linked).collect::<Vec<_>>().join(", ");
    let unsure: Vec<_> = list(&provider.table, "unconfirmed").into_iter().map(fact).collect();
    let unsure = if unsure.is_empty() { "nothing".to_owned() } else { unsure.join(", ") };
    format!("Sources: {read}. Not confirmed there: {unsure}.")
}
