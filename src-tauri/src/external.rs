//! Links that lead out of the window.

use tauri::Url;

/// Opens a page in the user's browser. Only http and https are allowed, because links may come from strangers.
pub(crate) fn open(url: &Url) {
    if !is_web_page(url) {
        return;
    }
    if let Err(error) = open::that_detached(url.as_str()) {
        tracing::warn!(%error, "no browser could be opened");
    }
}

fn is_web_page(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.has_host()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threat_2_only_web_pages_are_opened() {
        let opens = |text: &str| is_web_page(&Url::parse(text).unwrap());
        assert!(opens("https://docs.stripe.com/webhooks#verify") && opens("http://127.0.0.1:4400/"));
        for text in
            ["file:///etc/passwd", "javascript:alert(1)", "mailto:a@b.c", "smb://host/x", "tauri://localhost"]
        {
            assert!(!opens(text), "{text}");
        }
    }
}
