//! Header lines that were added on the way. They are stored beside the request, because it was signed without them.

use std::net::IpAddr;

use hookmitt_event::HeaderLines;

/// Splits header lines into the sender's own and those that forwarding services add.
pub(super) fn part(headers: &HeaderLines) -> (HeaderLines, HeaderLines) {
    headers.parted(is_of_the_way)
}

fn is_of_the_way(name: &str) -> bool {
    let begins = |start: &str| name.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
    let others = ["forwarded", "x-real-ip", "via", "cdn-loop", "true-client-ip"];
    begins("x-forwarded-") || begins("cf-") || others.iter().any(|other| name.eq_ignore_ascii_case(other))
}

/// Returns the caller's address as the forwarding service states it: in `X-Forwarded-For` it appends the address to
/// what the caller may have written, so the last one counts.
pub(super) fn caller(beside: &HeaderLines) -> Option<IpAddr> {
    let address = |text: &str| text.trim().parse::<IpAddr>().ok();
    if let Some(address) = beside.get_str("cf-connecting-ip").and_then(address) {
        return Some(address);
    }
    beside.get_str("x-forwarded-for")?.rsplit(',').next().and_then(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pairs: &[(&str, &str)]) -> HeaderLines {
        HeaderLines::from_pairs(pairs.iter().copied()).unwrap()
    }

    #[test]
    fn what_was_written_on_the_way_goes_beside_the_request() {
        let (own, beside) = part(&lines(&[
            ("Host", "a-b.trycloudflare.com"),
            ("X-Forwarded-For", "10.0.0.1, 203.0.113.9"),
            ("X-GitHub-Event", "push"),
            ("Cf-Connecting-Ip", "203.0.113.9"),
            ("Cdn-Loop", "cloudflare"),
            ("Via", "1.1 edge"),
        ]));
        assert_eq!(own, lines(&[("Host", "a-b.trycloudflare.com"), ("X-GitHub-Event", "push")]));
        assert_eq!((beside.len(), caller(&beside)), (4, "203.0.113.9".parse().ok()));
        assert_eq!(
            caller(&lines(&[("x-forwarded-for", "6.6.6.6, 203.0.113.7")])),
            "203.0.113.7".parse().ok()
        );
        assert_eq!(caller(&lines(&[("x-forwarded-for", "unknown")])), None);
    }

    #[test]
    fn a_sender_cannot_set_the_mark_that_its_body_was_written_anew() {
        let (own, beside) = part(&lines(&[("X-Hookmitt-Rewritten", "me")]));
        assert_eq!((own.len(), beside.len()), (1, 0));
    }
}
