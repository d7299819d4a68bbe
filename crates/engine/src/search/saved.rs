//! The searches that were saved under a name.

use hookmitt_inbox::SavedSearch;

use super::Search;
use crate::{Change, EngineError};

/// How long a name may be, in characters.
const LONGEST: usize = 60;

impl Search {
    /// Returns the saved searches in order.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub async fn saved(&self) -> Result<Vec<SavedSearch>, EngineError> {
        Ok(self.base.inbox.saved_searches().await?)
    }

    /// Saves a search behind the others. `q` must be one that can be read.
    ///
    /// # Errors
    /// Fails if the name is empty, too long or taken, if too many are saved, or if the inbox fails.
    pub async fn save(&self, name: &str, q: String) -> Result<SavedSearch, EngineError> {
        let saved = self.base.inbox.save_search(checked(name)?, q).await?;
        self.base.announce(Change::Config);
        Ok(saved)
    }

    /// Changes a saved search. What is `None` stays; `place` is its new place in the order, from 0.
    ///
    /// # Errors
    /// Fails if there is no such search, if the name is empty, too long or taken, or if the inbox fails.
    pub async fn change_saved(
        &self,
        id: i64,
        name: Option<&str>,
        q: Option<String>,
        place: Option<usize>,
    ) -> Result<SavedSearch, EngineError> {
        let name = name.map(checked).transpose()?;
        let saved = self.base.inbox.change_saved_search(id, name, q, place).await?;
        self.base.announce(Change::Config);
        Ok(saved)
    }

    /// Removes a saved search.
    ///
    /// # Errors
    /// Fails if there is no such search, or if the inbox fails.
    pub async fn remove_saved(&self, id: i64) -> Result<(), EngineError> {
        self.base.inbox.remove_saved_search(id).await?;
        self.base.announce(Change::Config);
        Ok(())
    }
}

/// Returns a name without the blanks around it, if it may be one.
fn checked(name: &str) -> Result<String, EngineError> {
    let name = name.trim();
    let fits = (1..=LONGEST).contains(&name.chars().count());
    let wrong = || EngineError::BadInput(format!("a name has 1 to {LONGEST} characters"));
    fits.then(|| name.to_owned()).ok_or_else(wrong)
}
