//! What the index is asked.

use hookmitt_inbox::{Filter, Inbox};
use hookmitt_search::{Pattern, Query, Test, WordKey};

use super::entry::target_word;
use crate::EngineError;

/// Returns the query that the index answers for a filter: targets go by their numbers there.
pub(super) async fn asked(inbox: &Inbox, filter: &Filter) -> Result<Query, EngineError> {
    let mut query = filter.whole_query();
    for term in &mut query.terms {
        let mut any = Vec::with_capacity(term.any.len());
        for test in std::mem::take(&mut term.any) {
            match test {
                Test::Word(WordKey::Target, pattern) => {
                    let all = inbox.target_urls().await?.into_iter();
                    let like = all.filter(|(_, url)| pattern.finds(WordKey::Target, url));
                    let word = |(target, _)| Test::Word(WordKey::Target, Pattern::new(&target_word(target)));
                    any.extend(like.map(word));
                }
                test => any.push(test),
            }
        }
        term.any = any;
    }
    Ok(query)
}
