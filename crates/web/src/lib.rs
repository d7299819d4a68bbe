//! The web UI's files, built into the binary, and the routes that serve them.
//!
//! The page needs no other origin, no inline script and no frame, and its Content-Security-Policy forbids them.

use axum::{
    Router,
    http::{HeaderName, HeaderValue, header},
    response::{Html, IntoResponse, Response},
    routing::get,
};

/// The files of `ui/dist` by path, as `build.rs` found them.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

const INDEX: &str = "/index.html";

/// The page that is served if the binary was built without the UI.
const UNBUILT: &str = include_str!("unbuilt.html");

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; \
    img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Returns routes for `/` and for each file. There are no others, because the UI's pages are named in the URL's
/// fragment.
pub fn router() -> Router {
    let mut router = Router::new().route("/", get(index));
    for &(path, bytes) in FILES.iter().filter(|(path, _)| *path != INDEX) {
        router = router.route(path, get(async move || file(path, bytes)));
    }
    router
}

/// Returns whether the UI was built when this crate was compiled.
pub fn is_built() -> bool {
    FILES.iter().any(|(path, _)| *path == INDEX)
}

async fn index() -> Response {
    match FILES.iter().find(|(path, _)| *path == INDEX) {
        Some(&(path, bytes)) => file(path, bytes),
        None => safe(Html(UNBUILT), "no-store"),
    }
}

fn file(path: &str, bytes: &'static [u8]) -> Response {
    let kind = [(header::CONTENT_TYPE, kind_of(path))];
    safe((kind, bytes), keeping_of(path))
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
}
