//! Decides which URLs a provider's key may be fetched from (Threat 6). A request can name any URL, and a key from an
//! arbitrary host proves nothing.

use url::{Host, Url};

/// Why a key is not fetched from a URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UntrustedUrl {
    /// The text is not a URL.
    #[error("not a URL")]
    NoUrl,
    /// The scheme isn't `https`, so the answer could be tampered with.
    #[error("not https")]
    NotHttps,
    /// The URL has a port or a user name, which no provider uses for its keys.
    #[error("it contains a port or a user name")]
    Unusual,
    /// The host isn't one of the provider's.
    #[error("the host {0} isn't the provider's")]
    Host(String),
    /// The path doesn't end in `.pem`, as those of Amazon's certificates do.
    #[error("not the path of a certificate")]
    Path,
}

/// Checks that a key may be fetched from `url`, given the hosts where its provider publishes keys.
///
/// A `*` at the start of a host stands for one or more labels; elsewhere it stands for the name of an Amazon region.
///
/// # Errors
/// Returns an [`UntrustedUrl`] if it may not be fetched.
pub fn allowed(url: &str, hosts: &[impl AsRef<str>]) -> Result<(), UntrustedUrl> {
    let parsed = at_host(url, hosts)?;
    let is_amazon = parsed.host_str().is_some_and(|host| host.starts_with("sns."));
    if is_amazon && !parsed.path().ends_with(".pem") {
        return Err(UntrustedUrl::Path);
    }
    Ok(())
}

/// Parses a URL and checks its host like [`allowed`], but accepts any path.
pub(crate) fn at_host(url: &str, hosts: &[impl AsRef<str>]) -> Result<Url, UntrustedUrl> {
    let parsed = Url::parse(url).map_err(|_| UntrustedUrl::NoUrl)?;
    if parsed.scheme() != "https" {
        return Err(UntrustedUrl::NotHttps);
    }
    if parsed.port().is_some() || !parsed.username().is_empty() || parsed.password().is_some() {
        return Err(UntrustedUrl::Unusual);
    }
    let Some(Host::Domain(host)) = parsed.host() else {
        return Err(UntrustedUrl::Host(parsed.host_str().unwrap_or_default().to_owned()));
    };
    if !hosts.iter().any(|pattern| fits(host, pattern.as_ref())) {
        return Err(UntrustedUrl::Host(host.to_owned()));
    }
    Ok(parsed)
}

/// Whether a certificate's common name is within the provider's domain. This is checked only for providers whose hosts
/// have a leading wildcard (`*.paypal.com`; pypi:paypalrestsdk@1.13.3 checks that). Amazon's certificates are trusted
/// for the host that they came from.
pub(crate) fn names_provider(common_name: Option<&str>, hosts: &[impl AsRef<str>]) -> bool {
    let mut domains = hosts.iter().map(AsRef::as_ref).filter(|pattern| pattern.starts_with('*')).peekable();
    domains.peek().is_none()
        || common_name.is_some_and(|name| domains.any(|pattern| fits(&name.to_ascii_lowercase(), pattern)))
}

fn fits(host: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => host == pattern,
        Some(("", end)) => host.strip_suffix(end).is_some_and(|start| !start.is_empty()),
        Some((start, end)) => {
            let middle = host.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
            middle.is_some_and(is_region)
        }
    }
}

/// Whether a label is an Amazon region such as `eu-central-1` or `us-gov-west-1`. This is stricter than any label,
/// because anybody can own a bucket named `sns`, with the host `sns.s3-us-west-2.amazonaws.com`.
fn is_region(label: &str) -> bool {
    let mut parts: Vec<_> = label.split('-').collect();
    let number = parts.pop().unwrap_or_default();
    let letters = |part: &&str| part.len() >= 2 && part.bytes().all(|byte| byte.is_ascii_lowercase());
    parts.len() >= 2
        && parts.iter().all(letters)
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threat_6_only_the_provider_s_hosts_are_asked_for_its_keys() {
        let hosts = ["sns.*.amazonaws.com", "sns.*.amazonaws.com.cn", "*.paypal.com", "www.googleapis.com"];
        for url in [
            "https://sns.us-west-2.amazonaws.com/SimpleNotificationService-1.pem",
            "https://sns.us-gov-west-1.amazonaws.com/SimpleNotificationService-1.pem",
            "https://sns.cn-north-1.amazonaws.com.cn/SimpleNotificationService-1.pem",
            "https://api.paypal.com/v1/notifications/certs/CERT-1",
            "https://API.sandbox.paypal.com/v1/notifications/certs/CERT-1",
            "https://www.googleapis.com:443/oauth2/v3/certs",
        ] {
            assert_eq!(allowed(url, &hosts), Ok(()), "{url}");
        }
        let host = |name: &str| UntrustedUrl::Host(name.to_owned());
        let table = [
            ("", UntrustedUrl::NoUrl),
            ("sns.us-west-2.amazonaws.com/a.pem", UntrustedUrl::NoUrl),
            ("http://sns.us-west-2.amazonaws.com/a.pem", UntrustedUrl::NotHttps),
            ("file:///etc/passwd", UntrustedUrl::NotHttps),
            ("https://sns.us-west-2.amazonaws.com:8443/a.pem", UntrustedUrl::Unusual),
            ("https://sns.us-west-2.amazonaws.com@evil.example/a.pem", UntrustedUrl::Unusual),
            ("https://sns.us-west-2.amazonaws.com/a.txt", UntrustedUrl::Path),
            ("https://sns.s3-us-west-2.amazonaws.com/a.pem", host("sns.s3-us-west-2.amazonaws.com")),
            ("https://sns.s3.amazonaws.com/a.pem", host("sns.s3.amazonaws.com")),
            (
                "https://sns.us-west-2.amazonaws.com.evil.example/a.pem",
                host("sns.us-west-2.amazonaws.com.evil.example"),
            ),
            ("https://evil.example/sns.us-west-2.amazonaws.com/a.pem", host("evil.example")),
            ("https://paypal.com/c", host("paypal.com")),
            ("https://.paypal.com/c", host(".paypal.com")),
            ("https://evilpaypal.com/c", host("evilpaypal.com")),
            ("https://api.paypal.com.evil.example/c", host("api.paypal.com.evil.example")),
            ("https://127.0.0.1/a.pem", host("127.0.0.1")),
            ("https://[::1]/a.pem", host("[::1]")),
        ];
        for (url, error) in table {
            assert_eq!(allowed(url, &hosts), Err(error), "{url}");
        }
    }
    #[test]
    fn a_certificate_is_named_within_the_provider_s_domain() {
        let paypal = ["*.paypal.com"];
        assert!(names_provider(Some("messageverificationcerts.paypal.com"), &paypal));
        assert!(!names_provider(Some("messageverificationcerts.paypal.com.evil.example"), &paypal));
        assert!(!names_provider(Some("evilpaypal.com"), &paypal) && !names_provider(None, &paypal));
        assert!(names_provider(None, &["sns.*.amazonaws.com"]));
    }
}
