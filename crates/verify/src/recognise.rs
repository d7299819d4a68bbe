//! Recognises the provider: from header names alone if possible, else from other values that only this provider sends.

use std::sync::LazyLock;

use hookmitt_event::{HeaderLines, Request};

use crate::{
    catalogue::{self, providers},
    lookup::Lookup,
    place::{Condition, Place},
    provider::Provider,
};

/// Longer header names identify no provider. In bytes.
const LONGEST: usize = 64;

/// Returns the provider that a request comes from.
///
/// Header names decide first, without looking at the body. If headers of two providers are present, the one that also
/// sends the other's headers wins (Gitea also sends GitHub's). Adopters of Standard Webhooks can't be told apart, so
/// their family is returned.
pub fn recognise(request: &Request) -> Option<&'static Provider> {
    recognise_by_headers(&request.headers).or_else(|| CONDITIONS.provider_of(request))
}

/// Returns the provider that the names of these header lines give away, where the rest of the request isn't known.
pub fn recognise_by_headers(headers: &HeaderLines) -> Option<&'static Provider> {
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

/// The conditions of every provider, arranged so that one pass over a request reads all their values.
struct Conditions {
    lookup: Lookup,
    rows: Vec<(&'static Provider, Vec<(usize, &'static Condition)>)>,
}

static CONDITIONS: LazyLock<Conditions> = LazyLock::new(|| {
    let mut lookup = Lookup::default();
    let mut rows = Vec::new();
    for provider in providers().filter(|provider| provider.family.is_none()) {
        for list in &provider.recognise {
            // A condition on a place that can't be read here never holds, so its whole list is left out.
            let tests: Option<Vec<_>> = list.iter().map(|condition| slot(&mut lookup, condition)).collect();
            rows.extend(tests.map(|tests| (provider, tests)));
        }
    }
    // Lists with more conditions come first, because they are more specific.
    rows.sort_by_key(|(_, tests): &(_, Vec<_>)| std::cmp::Reverse(tests.len()));
    Conditions { lookup, rows }
});

fn slot<'c>(lookup: &mut Lookup, condition: &'c Condition) -> Option<(usize, &'c Condition)> {
    let place = match &condition.place {
        Place::Header(name) => format!("header:{name}"),
        Place::Json(_, pointer) => pointer.clone(),
        Place::Form(name) => format!("form:{name}"),
        Place::Query(name) => format!("query:{name}"),
        Place::Method => "method".to_owned(),
        Place::HeadersLike(_) | Place::Field(_) | Place::Param(_) => return None,
    };
    Some((lookup.slot(&place).ok()?, condition))
}

impl Conditions {
    fn provider_of(&self, request: &Request) -> Option<&'static Provider> {
        let slots = self.lookup.gather(request);
        let passes = |(slot, condition): &(usize, &Condition)| {
            condition.passes(slots[*slot].as_ref().map(|found| found.text.as_bytes()))
        };
        self.rows.iter().find(|(_, tests)| tests.iter().all(passes)).map(|(provider, _)| *provider)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recognised(names: &[&str]) -> Option<&'static str> {
        let lines = HeaderLines::from_pairs(names.iter().map(|name| (name, "x"))).unwrap();
        recognise_by_headers(&lines).map(|provider| provider.id.as_str())
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
