//! Describes places, conditions and lists in words.

/// Formats a text as code.
pub(crate) fn code(text: &str) -> String {
    format!("`{}`", text.replace('\n', "\\n"))
}

/// Escapes a sentence from a file, so that Markdown doesn't read it as tags or entities.
pub(crate) fn prose(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// Formats a row of a table. A bar inside a cell is escaped, because it would end the cell.
pub(crate) fn row(cells: &[String]) -> String {
    let cells: Vec<_> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Joins texts as `a`, `b` and `c`.
pub(crate) fn all_of(texts: &[String]) -> String {
    joined(texts, " and ")
}

/// Joins texts as `a`, `b` or `c`.
pub(crate) fn one_of(texts: &[String]) -> String {
    joined(texts, " or ")
}

fn joined(texts: &[String], last: &str) -> String {
    match texts {
        [] => String::new(),
        [one] => one.clone(),
        [start @ .., end] => format!("{}{last}{end}", start.join(", ")),
    }
}

/// Lists templates of which the first that can be filled counts.
pub(crate) fn first_of(texts: &[&str]) -> String {
    let texts: Vec<_> = texts.iter().map(|text| code(text)).collect();
    texts.join(", or else ")
}

/// Describes a place such as `header:X-Signature`.
pub(crate) fn place(text: &str) -> String {
    match text.split_once(':') {
        _ if text == "method" => "the method".to_owned(),
        _ if text.starts_with('/') => format!("{} in the body", code(text)),
        Some(("header", name)) => code(name),
        Some(("form", name)) => format!("{} in the form", code(name)),
        Some(("query", name)) => format!("{} in the query", code(name)),
        Some(("field", name)) => format!("its field {}", code(&format!("{name}="))),
        Some(("param", "expected_response")) => "the answer, not the request".to_owned(),
        Some(("param", name)) => format!("the setting {}", code(name)),
        _ => code(text),
    }
}

/// Describes a condition such as `/type=ping`.
pub(crate) fn condition(text: &str) -> String {
    if let Some(not) = text.strip_prefix('!') {
        return if not.contains('=') {
            format!("not {}", condition(not))
        } else {
            format!("no {}", place(not))
        };
    }
    let Some((at, value)) = text.split_once('=') else { return place(text) };
    if at == "method" {
        return format!("the method {}", code(value));
    }
    match value.strip_suffix('*') {
        Some(start) => format!("{} starting with {}", place(at), code(start)),
        None => format!("{} = {}", place(at), code(value)),
    }
}

/// Describes conditions that all have to hold.
pub(crate) fn conditions(texts: &[&str]) -> String {
    let texts: Vec<_> = texts.iter().map(|text| condition(text)).collect();
    all_of(&texts)
}

/// Returns the name of an algorithm.
pub(crate) fn algorithm(id: &str) -> &str {
    match id {
        "hmac-sha1" => "HMAC-SHA1",
        "hmac-sha256" => "HMAC-SHA256",
        "hmac-sha512" => "HMAC-SHA512",
        "sha256" => "SHA-256, no HMAC",
        "ed25519" => "Ed25519",
        "ecdsa-p256-sha256" => "ECDSA P-256 with SHA-256",
        "rsa-sha1" => "RSA with SHA-1",
        "rsa-sha256" => "RSA with SHA-256",
        "jwt-hs256" => "JWT, HS256",
        "jwt-rs256" => "JWT, RS256",
        "jwt-es256" => "JWT, ES256",
        "token" => "shared token",
        "none" => "nothing is signed",
        other => panic!("{other}: say it in words here"),
    }
}

/// Describes the name of a fact in the files. A name that isn't listed here is returned as it is.
pub(crate) fn fact(name: &str) -> &str {
    match name {
        "timeout_s" => "how long it waits for an answer",
        "retry" => "when it retries",
        "same_id" => "whether a retry has the same id",
        "id" => "the event's id",
        "time" => "the event's time",
        "tolerance_s" => "the tolerance",
        words => words,
    }
}

/// Describes how a secret becomes the key.
pub(crate) fn key(id: &str) -> &str {
    match id {
        "" | "utf8" => "the secret's text",
        "whsec" => "base64, with or without `whsec_` before it",
        "whsec-required" => "base64 after `whsec_`",
        "whsec-or-utf8" => "base64 after `whsec_`, otherwise the text",
        "base64" => "the secret, decoded from base64",
        "hex" => "the secret, decoded from hex",
        "sha1" => "the SHA-1 of the secret",
        "html" => "the secret with its HTML entities decoded",
        "basic" => "`user:password` in base64, compared",
        "public" => "a public key",
        "compare" => "the secret, compared",
        other => panic!("{other}: say it in words here"),
    }
}
