//! Contentful's canonical request (npm:@contentful/node-apps-toolkit, `signRequest`).

use crate::request_view::RequestView;

/// Returns method, path, the listed headers as `name:value` joined by `;`, and the body, each on its own line.
pub(crate) fn canonical(view: &RequestView<'_>) -> Vec<u8> {
    let listed = view.headers.get_str("x-contentful-signed-headers").unwrap_or_default();
    let headers: Vec<_> = listed
        .split(',')
        .map(|name| name.trim().to_ascii_lowercase())
        .filter(|name| !name.is_empty())
        .map(|name| {
            let value = view.headers.get(&name).unwrap_or_default().trim_ascii();
            format!("{name}:{}", String::from_utf8_lossy(value))
        })
        .collect();
    let head = format!(
        "{}\n{}\n{}\n",
        view.method.to_ascii_uppercase(),
        path(view.path_and_query()),
        headers.join(";")
    );
    [head.as_bytes(), view.body].concat()
}

/// Percent-encodes the query as a whole, then path and query again, so that a `=` becomes `%253D`.
fn path(path_and_query: &str) -> String {
    let mut parts = path_and_query.split('?');
    let path = parts.next().unwrap_or_default();
    match parts.next().filter(|query| !query.is_empty()) {
        Some(query) => encoded(&format!("{path}?{}", encoded(query, b"")), b";,/?:@&=+$#"),
        None => encoded(path, b";,/?:@&=+$#"),
    }
}

/// Percent-encodes everything except letters, digits, a few marks and `kept` (ECMAScript's `encodeURI` and
/// `querystring.escape`).
fn encoded(text: &str, kept: &[u8]) -> String {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) || kept.contains(&byte);
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if plain(byte) { out.push(char::from(byte)) } else { out.push_str(&format!("%{byte:02X}")) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_escaped_twice() {
        assert_eq!(path("/in?x=1&y=a b"), "/in?x%253D1%2526y%253Da%2520b");
        assert_eq!(path("/a%20b"), "/a%2520b");
        assert_eq!(path("/in?"), "/in");
    }
}
