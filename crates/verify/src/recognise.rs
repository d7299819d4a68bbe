//! Tells the provider from the header names. On the capture path: no allocation, one look at each line.

use hookmitt_event::HeaderLines;

use crate::{Provider, catalogue};

/// Longer header names give no provider away.
const LONGEST: usize = 64;

/// The provider that these header lines give away.
///
/// Where headers of two providers are present, the catalogue's order decides (Gitea also sends GitHub's headers).
/// Adopters of Standard Webhooks can't be told apart and come out as their family.
pub fn recognise(headers: &HeaderLines) -> Option<&'static Provider> {
    let mut lower = [0; LONGEST];
    let mut best: Option<usize> = None;
    for line in headers.iter() {
        let Some(name) = lower.get_mut(..line.name.len()) else { continue };
        name.copy_from_slice(line.name.as_bytes());
        name.make_ascii_lowercase();
        if let Some(rank) = catalogue::given_away_by(name) {
            best = Some(best.map_or(rank, |so_far| so_far.min(rank)));
        }
    }
    best.and_then(catalogue::ranked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recognised(names: &[&str]) -> Option<&'static str> {
        let lines = HeaderLines::from_pairs(names.iter().map(|name| (name, "x"))).unwrap();
        recognise(&lines).map(|provider| provider.id.as_str())
    }

    #[test]
    fn a_provider_is_told_by_its_headers() {
        let table = [
            (&["Host", "X-GitHub-Event"][..], Some("github")),
            (&["X-GITHUB-DELIVERY"], Some("github")),
            (&["X-GitHub-Event", "X-Gitea-Event"], Some("gitea")),
            (&["X-GitHub-Event", "X-Forgejo-Event"], Some("gitea")),
            (&["webhook-id", "X-Gitlab-Event"], Some("gitlab")),
            (&["Stripe-Signature"], Some("stripe")),
            (&["webhook-id", "webhook-timestamp", "webhook-signature"], Some("standardwebhooks")),
            (&["webhook-id", "svix-id"], Some("svix")),
            (&["x-slack-signature"], Some("slack")),
            (&["X-Shopify-Topic"], Some("shopify")),
            (&["X-Telegram-Bot-Api-Secret-Token"], Some("telegram")),
            (&["Host", "X-Hub-Signature-256"], None),
            (&[], None),
        ];
        for (names, expected) in table {
            assert_eq!(recognised(names), expected, "{names:?}");
        }
    }
}
