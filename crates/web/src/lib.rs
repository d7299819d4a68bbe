//! The web UI's files, built into the binary, and the routes that serve them.
//!
//! The page needs no other origin, no inline script and no frame, and its Content-Security-Policy forbids them.

use std::io::Read as _;

use axum::{
    Router,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use flate2::read::GzDecoder;

/// A file's path, whether its bytes are gzip, and its bytes.
type File = (&'static str, bool, &'static [u8]);

/// The files of `ui/dist`, as `build.rs` found them.
const FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

const INDEX: &str = "/index.html";

/// The page that is served if the binary was built without the UI.
const UNBUILT: &str = include_str!("unbuilt.html");

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; \
    img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Returns routes for `/` and for each file. There are no others, because the UI's pages are named in the URL's
/// fragment.
pub fn router() -> Router {
    let mut router = Router::new().route("/", get(index));
    for &one in FILES.iter().filter(|(path, ..)| *path != INDEX) {
        router = router.route(one.0, get(async move |asked: HeaderMap| file(one, &asked)));
    }
    router
}

/// Returns whether the UI was built when this crate was compiled.
pub fn is_built() -> bool {
    FILES.iter().any(|(path, ..)| *path == INDEX)
}

async fn index(asked: HeaderMap) -> Response {
    match FILES.iter().find(|(path, ..)| *path == INDEX) {
        Some(&one) => file(one, &asked),
        None => safe(Html(UNBUILT), "no-store"),
    }
}

fn file((path, is_packed, bytes): File, asked: &HeaderMap) -> Response {
    let kind = [(header::CONTENT_TYPE, kind_of(path))];
    let keeping = keeping_of(path);
    if !is_packed {
        return safe((kind, bytes), keeping);
    }
    let vary = [(header::VARY, "accept-encoding")];
    if takes_gzip(asked) {
        return safe((kind, vary, [(header::CONTENT_ENCODING, "gzip")], bytes), keeping);
    }
    match unpacked(bytes) {
        Ok(plain) => safe((kind, vary, plain), keeping),
        Err(_) => safe(StatusCode::INTERNAL_SERVER_ERROR, "no-store"),
    }
}

fn unpacked(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut plain)?;
    Ok(plain)
}

/// Whether a request's `Accept-Encoding` names gzip (RFC 9110, section 12.5.3).
fn takes_gzip(asked: &HeaderMap) -> bool {
    let lines = asked.get_all(header::ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|one| {
        let (name, weight) = one.split_once(';').unwrap_or((one, ""));
        let refused =
            weight.split_once('=').is_some_and(|(_, q)| q.trim().parse::<f32>().is_ok_and(|q| q <= 0.0));
        name.trim().eq_ignore_ascii_case("gzip") && !refused
    })
}

/// Adds the header lines that protect the page.
fn safe(answer: impl IntoResponse, keeping: &'static str) -> Response {
    const LINES: [(HeaderName, &str); 3] = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    let mut response = answer.into_response();
    for (name, value) in LINES.into_iter().chain([(header::CACHE_CONTROL, keeping)]) {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Returns how long a browser may cache a file. Files under `/assets/` never change, because the build names them after
/// their content.
fn keeping_of(path: &str) -> &'static str {
    match path {
        INDEX => "no-store",
        _ if path.starts_with("/assets/") => "public, max-age=31536000, immutable",
        _ => "no-cache",
    }
}

fn kind_of(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashed_files_are_kept_and_the_page_is_not() {
        assert_eq!(keeping_of(INDEX), "no-store");
        assert!(keeping_of("/assets/index-Bq1.js").ends_with("immutable"));
        assert_eq!(keeping_of("/favicon.svg"), "no-cache");
    }

    #[test]
    fn scripts_and_fonts_get_their_types() {
        assert_eq!(kind_of("/assets/index-Bq1.js"), "text/javascript; charset=utf-8");
        assert_eq!(kind_of("/assets/inter.woff2"), "font/woff2");
        assert_eq!(kind_of("/LICENSE"), "application/octet-stream");
    }

    #[test]
    fn gzip_is_sent_to_those_who_take_it() {
        for (asked, takes) in [
            ("gzip", true),
            ("deflate, GZIP;q=0.5, br", true),
            ("gzip;q=0", false),
            ("gzip; q=0.000", false),
            ("br, x-gzip", false),
            ("", false),
        ] {
            let lines = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(asked))]);
            assert_eq!(takes_gzip(&lines), takes, "{asked}");
        }
    }

    #[test]
    fn each_file_is_what_was_built() {
        for &(path, is_packed, bytes) in FILES {
            let built = std::fs::read(format!("{}/../../ui/dist{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
            let served = if is_packed { unpacked(bytes).unwrap() } else { bytes.to_vec() };
            assert!(served == built, "{path}");
        }
    }
}
