//! Why a captured request is not forwarded automatically (Threat 1).

use serde::{Deserialize, Serialize};

use crate::Request;

/// Why an event is not forwarded automatically.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum WithheldReason {
    /// A web page of another origin sent the request.
    WebPage,
    /// A web page posted the request as a form.
    FormPost,
    /// The request was sent to a host name that is not one of this machine's. A web page of that name could read the
    /// answer.
    ForeignHost,
}

impl WithheldReason {
    /// Returns the reason that the event's deliveries show.
    pub const fn words(self) -> &'static str {
        match self {
            Self::WebPage => "it was sent by a web page",
            Self::FormPost => {
                "it was sent by a web page as a form: of sign-ins, only GET callbacks are forwarded"
            }
            Self::ForeignHost => "it was called by a name that is not this machine's",
        }
    }
}

/// Returns whether a text is a DNS name in lower case: letters, digits, hyphens and underscores between dots.
pub fn is_host_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    let label = |label: &str| (1..=63).contains(&label.len()) && label.bytes().all(plain);
    text.len() <= 253 && !text.starts_with('-') && text.split('.').all(label)
}

impl Request {
    /// Returns whether this is a page that a browser opens in a tab, for example after a redirect from a sign-in page.
    /// Frames, images, scripts and anything fetched in advance do not count.
    pub fn is_navigation(&self) -> bool {
        let says = |name: &str, value: &[u8]| {
            let mut lines = self.headers.get_all(name);
            lines.next().is_some_and(|line| line.eq_ignore_ascii_case(value)) && lines.next().is_none()
        };
        self.method == "GET"
            && says("sec-fetch-mode", b"navigate")
            && says("sec-fetch-dest", b"document")
            && !self.headers.has("origin")
            && !self.is_in_advance()
    }

    /// Returns whether a browser fetches this in advance, before the user goes there, because a page asks for it. Such
    /// a request can look like one that a person typed (`Sec-Fetch-Site: none`).
    pub fn is_in_advance(&self) -> bool {
        let older = ["purpose", "x-purpose", "x-moz"];
        let early = [&b"prefetch"[..], b"prerender", b"preview"];
        let says = |value: &[u8]| early.iter().any(|word| value.eq_ignore_ascii_case(word));
        self.headers.has("sec-purpose") || older.iter().any(|name| self.headers.get_all(name).any(says))
    }

    /// Returns whether this is a form that a browser posts while it navigates to another page, such as an OAuth
    /// form_post.
    pub fn is_form_post(&self) -> bool {
        let kind = self.headers.get_str("content-type").unwrap_or_default().to_ascii_lowercase();
        let goes =
            self.headers.get("sec-fetch-mode").is_none_or(|mode| mode.eq_ignore_ascii_case(b"navigate"));
        self.method == "POST" && goes && kind.starts_with("application/x-www-form-urlencoded")
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::{HeaderLines, HttpVersion};

    fn request(method: &str, lines: &[(&str, &str)]) -> Request {
        Request {
            method: method.to_owned(),
            path: "/callback".to_owned(),
            query: Some("code=1".to_owned()),
            version: HttpVersion::Http11,
            headers: HeaderLines::from_pairs(lines.iter().copied()).unwrap(),
            body: Bytes::new(),
        }
    }

    const NAVIGATION: [(&str, &str); 3] =
        [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")];

    #[test]
    fn a_tab_that_goes_to_a_page_navigates() {
        assert!(request("GET", &NAVIGATION).is_navigation());
        let clicked = [&NAVIGATION[..], &[("Sec-Fetch-User", "?1")]].concat();
        assert!(request("GET", &clicked).is_navigation());
    }

    #[test]
    fn threat_1_nothing_else_that_a_page_does_is_a_navigation() {
        assert!(!request("POST", &NAVIGATION).is_navigation());
        assert!(!request("HEAD", &NAVIGATION).is_navigation());
        assert!(!request("GET", &NAVIGATION[..2]).is_navigation());
        for (name, value) in [
            ("Origin", "null"),
            ("Origin", "https://idp.example"),
            ("Sec-Purpose", "prefetch"),
            ("Sec-Purpose", "prefetch;prerender"),
            ("Purpose", "prefetch"),
            ("X-Moz", "prefetch"),
            ("Sec-Fetch-Dest", "iframe"),
            ("Sec-Fetch-Mode", "cors"),
        ] {
            let lines = [&NAVIGATION[..], &[(name, value)]].concat();
            assert!(!request("GET", &lines).is_navigation(), "{name}: {value}");
        }
        for dest in ["iframe", "frame", "embed", "object", "image", "script", "empty", "fencedframe"] {
            let lines = [NAVIGATION[0], NAVIGATION[1], ("Sec-Fetch-Dest", dest)];
            assert!(!request("GET", &lines).is_navigation(), "{dest}");
        }
    }

    #[test]
    fn threat_1_what_a_browser_fetches_in_advance_is_told() {
        let typed = ("Sec-Fetch-Site", "none");
        assert!(request("GET", &[typed, ("Sec-Purpose", "prefetch;prerender")]).is_in_advance());
        assert!(request("GET", &[("Purpose", "Prefetch")]).is_in_advance());
        assert!(!request("POST", &[typed, ("Purpose", "invoice")]).is_in_advance());
    }

    #[test]
    fn a_form_that_a_page_posts_is_told_from_what_a_script_posts() {
        let form = ("Content-Type", "application/x-www-form-urlencoded; charset=utf-8");
        assert!(request("POST", &[NAVIGATION[1], form]).is_form_post());
        assert!(request("POST", &[form]).is_form_post(), "an old browser");
        assert!(!request("POST", &[("Sec-Fetch-Mode", "cors"), form]).is_form_post());
        assert!(!request("POST", &[NAVIGATION[1], ("Content-Type", "application/json")]).is_form_post());
    }
}
