//! Planted secrets, and the check whether they appear in some bytes in any encoding.

use base64::{
    Engine as _,
    engine::{
        GeneralPurpose,
        general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD},
    },
};

/// Secrets by name, each in every encoding in which it might be written.
#[derive(Default)]
pub struct Planted {
    all: Vec<(String, Vec<u8>)>,
}

impl Planted {
    /// Adds a secret. Panics if it is shorter than 12 bytes, because a short secret would be found everywhere.
    pub fn plant(&mut self, name: &str, value: &[u8]) {
        assert!(value.len() >= 12, "{name} is too short to be told from anything else");
        self.all.extend(forms(value).into_iter().map(|(form, bytes)| (format!("{name}, {form}"), bytes)));
    }

    /// Returns the names and encodings of the secrets that occur in these bytes.
    pub fn found_in(&self, bytes: &[u8]) -> Vec<&str> {
        let found = self.all.iter().filter(|(_, form)| memchr::memmem::find(bytes, form).is_some());
        found.map(|(name, _)| name.as_str()).collect()
    }
}

fn forms(value: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut forms = vec![("as it is".to_owned(), value.to_vec())];
    let mut add = |name: &str, text: String| forms.push((name.to_owned(), text.into_bytes()));
    add("hex", hex::encode(value));
    add("HEX", hex::encode_upper(value));
    let numbers: Vec<_> = value.iter().map(ToString::to_string).collect();
    add("a list of bytes", numbers.join(", "));
    add("a JSON list of bytes", numbers.join(","));
    let whole: [(&str, GeneralPurpose); 4] = [
        ("base64", STANDARD),
        ("URL base64", URL_SAFE),
        ("bare base64", STANDARD_NO_PAD),
        ("bare URL base64", URL_SAFE_NO_PAD),
    ];
    for (name, alphabet) in whole {
        add(name, alphabet.encode(value));
    }
    // Inside a longer text that is encoded as base64, at each of the three alignments.
    for (name, alphabet) in [("base64 within", STANDARD_NO_PAD), ("URL base64 within", URL_SAFE_NO_PAD)] {
        for before in 0..3_usize {
            let text = alphabet.encode([&[0; 3][..before], value].concat());
            let (first, last) = ((before * 4).div_ceil(3), (before + value.len()) * 4 / 3);
            add(name, text[first..last].to_owned());
        }
    }
    if let Ok(text) = std::str::from_utf8(value) {
        let json = serde_json::to_string(text).expect("text is JSON");
        let json = json[1..json.len() - 1].to_owned();
        add("JSON with /", json.replace('/', "\\/"));
        add(
            "JSON in JSON",
            serde_json::to_string(&json).expect("text is JSON")[1..].trim_end_matches('"').to_owned(),
        );
        add("JSON", json);
        let debug = format!("{text:?}");
        add("Rust", debug[1..debug.len() - 1].to_owned());
        add("HTML", text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;"));
    }
    forms.extend(in_urls(value));
    forms
}

/// Encodes the secret as it appears in URLs and forms, with more or fewer characters percent-encoded.
fn in_urls(value: &[u8]) -> Vec<(String, Vec<u8>)> {
    let percent = |space: &str, plain: &[u8]| {
        let letter = |byte: &u8| match *byte {
            b' ' => space.to_owned(),
            byte if byte.is_ascii_alphanumeric() || plain.contains(&byte) => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        };
        value.iter().map(letter).collect::<String>()
    };
    [
        ("in a URL", percent("%20", b"-._~")),
        ("in a URL, small", percent("%20", b"-._~").to_lowercase()),
        ("in a path", percent("%20", b"-._~/+&=:")),
        ("in a form", percent("+", b"-._*")),
    ]
    .map(|(name, text)| (name.to_owned(), text.into_bytes()))
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_in_every_form() {
        const SECRET: &str = "pl4nted \"s3cret\"\\/+&%<é>";
        let mut planted = Planted::default();
        planted.plant("it", SECRET.as_bytes());
        let json = serde_json::json!({ "a": SECRET }).to_string();
        for text in [
            format!("x{SECRET}x"),
            json.clone(),
            serde_json::json!({ "b": json }).to_string(),
            format!("{:?}", SECRET.as_bytes()),
            format!("{SECRET:?}"),
            hex::encode(SECRET),
            STANDARD.encode(format!("a{SECRET}bcd")),
            STANDARD.encode(format!("ab{SECRET}bcd")),
            URL_SAFE_NO_PAD.encode(format!("abc{SECRET}b")),
            "pl4nted%20%22s3cret%22%5C%2F%2B%26%25%3C%C3%A9%3E".to_owned(),
            "pl4nted+%22s3cret%22%5C%2F%2B%26%25%3C%C3%A9%3E".to_owned(),
        ] {
            assert!(!planted.found_in(text.as_bytes()).is_empty(), "{text}");
        }
        assert!(planted.found_in(b"pl4nted s3cret").is_empty());
    }
}
