//! Reads the text of single XML elements, for titles and types only. No verdict depends on it.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::form;

/// Returns the XML document in a body or in Braintree's form field; `None` if neither holds one.
pub(crate) fn document(body: &[u8]) -> Option<Cow<'_, str>> {
    if body.trim_ascii_start().starts_with(b"<") {
        return std::str::from_utf8(body).ok().map(Cow::Borrowed);
    }
    let packed = form::values(body, "bt_payload").next()?;
    let packed: Vec<u8> = packed.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    String::from_utf8(STANDARD.decode(packed).ok()?).ok().map(Cow::Owned)
}

/// Returns the trimmed text of the first element of that name, or `None` if it is empty.
pub(crate) fn text_of(document: &str, name: &str) -> Option<String> {
    let open = format!("<{name}");
    let mut rest = document;
    loop {
        rest = &rest[rest.find(&open)? + open.len()..];
        let Some(inner) = rest.strip_prefix('>').or_else(|| {
            let attributes = rest.strip_prefix(' ')?;
            attributes.split_once('>').map(|(_, inner)| inner)
        }) else {
            continue;
        };
        let text = &inner[..inner.find('<')?];
        return (!text.trim().is_empty()).then(|| decoded(text.trim()));
    }
}

fn decoded(text: &str) -> String {
    let table = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    table.iter().fold(text.to_owned(), |text, (entity, letter)| text.replace(entity, letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_element_of_a_name_is_read() {
        let text = "<n><kinds/><kind type=\"x\">a &amp; b</kind><kind>c</kind><empty></empty></n>";
        assert_eq!(text_of(text, "kind").as_deref(), Some("a & b"));
        assert_eq!(text_of(text, "empty"), None);
        assert_eq!(text_of(text, "none"), None);
        assert_eq!(text_of("<kind", "kind"), None);
    }

    #[test]
    fn a_document_is_found_in_braintree_s_form() {
        let packed = STANDARD.encode("<n><kind>x</kind></n>");
        let form = format!("bt_signature=a&bt_payload={}%0A", packed.replace('=', "%3D").replace('+', "%2B"));
        let document = document(form.as_bytes()).unwrap();
        assert_eq!(text_of(&document, "kind").as_deref(), Some("x"));
    }
}
