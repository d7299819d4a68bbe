//! The searches that were saved under a name.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{Inbox, InboxError};

/// How many searches may be saved.
const MOST: i64 = 100;

/// A search that was saved under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedSearch {
    /// Its id, which is never used again.
    pub id: i64,
    /// Its name; no other one has it.
    pub name: String,
    /// The search, as it was typed.
    pub q: String,
}

impl Inbox {
    /// Returns the saved searches in order.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn saved_searches(&self) -> Result<Vec<SavedSearch>, InboxError> {
        self.readers.read(all).await
    }

    /// Saves a search behind the others.
    ///
    /// # Errors
    /// Fails with [`InboxError::SearchExists`] if another one has that name, and with
    /// [`InboxError::TooManySearches`] if there are as many as there may be.
    pub async fn save_search(&self, name: String, q: String) -> Result<SavedSearch, InboxError> {
        const ADD: &str = "INSERT INTO saved_search (name, q, place)
            SELECT ?1, ?2, coalesce(max(place), 0) + 1 FROM saved_search RETURNING id, name, q";
        self.write(move |batch| {
            let count: i64 = batch.db.query_row("SELECT count(*) FROM saved_search", [], |row| row.get(0))?;
            if count >= MOST {
                return Err(InboxError::TooManySearches(count));
            }
            check_name(batch.db, &name, None)?;
            Ok(batch.db.prepare_cached(ADD)?.query_row([&name, &q], saved)?)
        })
        .await
    }

    /// Changes a saved search. What is `None` stays. `place` is its new place in the order, from 0; behind the others if
    /// there are not so many.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownSearch`] if there is no such search, and with [`InboxError::SearchExists`] if
    /// another one has that name.
    pub async fn change_saved_search(
        &self,
        id: i64,
        name: Option<String>,
        q: Option<String>,
        place: Option<usize>,
    ) -> Result<SavedSearch, InboxError> {
        const SET: &str =
            "UPDATE saved_search SET name = coalesce(?2, name), q = coalesce(?3, q) WHERE id = ?1
            RETURNING id, name, q";
        self.write(move |batch| {
            if let Some(name) = &name {
                check_name(batch.db, name, Some(id))?;
            }
            let changed = batch.db.prepare_cached(SET)?.query_row(params![id, name, q], saved).optional()?;
            let changed = changed.ok_or(InboxError::UnknownSearch(id))?;
            if let Some(place) = place {
                move_to(batch.db, id, place)?;
            }
            Ok(changed)
        })
        .await
    }

    /// Removes a saved search.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownSearch`] if there is no such search.
    pub async fn remove_saved_search(&self, id: i64) -> Result<(), InboxError> {
        self.write(move |batch| match batch.db.execute("DELETE FROM saved_search WHERE id = ?1", [id])? {
            0 => Err(InboxError::UnknownSearch(id)),
            _ => Ok(()),
        })
        .await
    }
}

/// Returns the saved searches in order.
pub(crate) fn all(db: &Connection) -> Result<Vec<SavedSearch>, InboxError> {
    let mut select = db.prepare_cached("SELECT id, name, q FROM saved_search ORDER BY place, id")?;
    let found = select.query_map([], saved)?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn saved(row: &Row<'_>) -> rusqlite::Result<SavedSearch> {
    Ok(SavedSearch { id: row.get(0)?, name: row.get(1)?, q: row.get(2)? })
}

fn check_name(db: &Connection, name: &str, own: Option<i64>) -> Result<(), InboxError> {
    const SQL: &str = "SELECT 1 FROM saved_search WHERE name = ?1 AND id IS NOT ?2";
    let is_taken = db.prepare_cached(SQL)?.exists(params![name, own])?;
    if is_taken { Err(InboxError::SearchExists(name.to_owned())) } else { Ok(()) }
}

fn move_to(db: &Connection, id: i64, place: usize) -> Result<(), InboxError> {
    let mut ids: Vec<_> = all(db)?.iter().map(|search| search.id).filter(|other| *other != id).collect();
    ids.insert(place.min(ids.len()), id);
    let mut update = db.prepare_cached("UPDATE saved_search SET place = ?2 WHERE id = ?1")?;
    for (place, id) in (1_i64..).zip(ids) {
        update.execute([id, place])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn names(inbox: &Inbox) -> Vec<String> {
        inbox.saved_searches().await.unwrap().into_iter().map(|search| search.name).collect()
    }

    #[tokio::test]
    async fn searches_are_saved_in_order_and_names_are_unique() {
        let folder = tempfile::tempdir().unwrap();
        let inbox = Inbox::open(folder.path(), std::sync::Arc::new(hookmitt_clock::MachineClock)).unwrap();
        let mut ids = Vec::new();
        for name in ["a", "b", "c"] {
            ids.push(inbox.save_search(name.to_owned(), "is:pinned".to_owned()).await.unwrap().id);
        }
        let change = async |id, name: Option<&str>, place| {
            inbox.change_saved_search(id, name.map(str::to_owned), None, place).await
        };
        assert_eq!(change(ids[2], None, Some(0)).await.unwrap().q, "is:pinned");
        assert_eq!(names(&inbox).await, ["c", "a", "b"]);
        change(ids[2], Some("z"), Some(99)).await.unwrap();
        assert_eq!(names(&inbox).await, ["a", "b", "z"]);
        change(ids[0], Some("a"), None).await.unwrap();
        assert!(matches!(change(ids[0], Some("b"), None).await, Err(InboxError::SearchExists(_))));
        inbox.remove_saved_search(ids[1]).await.unwrap();
        assert!(matches!(inbox.remove_saved_search(ids[1]).await, Err(InboxError::UnknownSearch(_))));
        assert!(matches!(change(ids[1], Some("b"), None).await, Err(InboxError::UnknownSearch(_))));
        assert!(inbox.save_search("b".to_owned(), String::new()).await.unwrap().id > ids[2]);
        assert_eq!(names(&inbox).await, ["a", "z", "b"]);
    }

    #[tokio::test]
    async fn no_more_than_a_hundred_are_saved() {
        let folder = tempfile::tempdir().unwrap();
        let inbox = Inbox::open(folder.path(), std::sync::Arc::new(hookmitt_clock::MachineClock)).unwrap();
        for number in 0..MOST {
            inbox.save_search(number.to_string(), String::new()).await.unwrap();
        }
        let refused = inbox.save_search("one more".to_owned(), String::new()).await;
        assert!(matches!(refused, Err(InboxError::TooManySearches(MOST))));
    }
}
