//! Words that occur, to complete a search.

use hookmitt_search::WordKey;

use super::Search;
use crate::EngineError;

impl Search {
    /// Returns values of a key that contain a text, with the number of events that have each, the most frequent first.
    ///
    /// # Errors
    /// Fails if the inbox or the index fails.
    pub async fn words(
        &self,
        key: WordKey,
        part: &str,
        limit: usize,
    ) -> Result<Vec<(String, u64)>, EngineError> {
        let index = self.index.get();
        if key != WordKey::Target {
            return Ok(index.words(key, part, limit).await?);
        }
        // The index knows targets by number.
        let urls = self.base.inbox.target_urls().await?;
        let mut found = Vec::new();
        for (word, events) in index.words(key, "=", limit).await? {
            let number = word.trim_matches('=').parse::<i64>().ok();
            let url = urls.iter().find(|(target, _)| Some(target.0) == number);
            found.extend(url.filter(|(_, url)| url.contains(part)).map(|(_, url)| (url.clone(), events)));
        }
        Ok(found)
    }
}
