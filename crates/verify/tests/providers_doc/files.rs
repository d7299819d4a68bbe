//! The catalogue's files as TOML tables.

use std::{fs, path::Path};

use toml::{Table, Value};

/// One provider's file.
pub(crate) struct Provider {
    pub(crate) id: String,
    pub(crate) table: Table,
    /// The family's name and file, if the provider is an adopter.
    pub(crate) family: Option<(String, Table)>,
}

/// Returns every provider, sorted by name.
pub(crate) fn read(folder: &Path) -> Vec<Provider> {
    let mut all: Vec<(String, Table)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let id = path.file_stem().unwrap().to_string_lossy().into_owned();
            let table = fs::read_to_string(&path).unwrap().parse();
            (id, table.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
        })
        .collect();
    all.sort_by_key(|(_, table)| text(table, "name").to_lowercase());
    let family = |table: &Table| {
        let id = table.get("family")?.as_str()?;
        let (_, family) = all.iter().find(|(known, _)| known == id)?;
        Some((text(family, "name").to_owned(), family.clone()))
    };
    let families: Vec<_> = all.iter().map(|(_, table)| family(table)).collect();
    let pairs = all.into_iter().zip(families);
    pairs.map(|((id, table), family)| Provider { id, table, family }).collect()
}

impl Provider {
    pub(crate) fn name(&self) -> &str {
        text(&self.table, "name")
    }

    pub(crate) fn is_confirmed(&self) -> bool {
        text(&self.table, "confidence") == "confirmed"
    }

    /// Returns its own schemes, or its family's if it has none.
    pub(crate) fn schemes(&self) -> Vec<&Table> {
        let own = tables(&self.table, "scheme");
        let family = self.family.as_ref().filter(|_| own.is_empty());
        family.map_or(own, |(_, table)| tables(table, "scheme"))
    }

    /// Returns the templates of a fact: its own, or its family's if it has none.
    pub(crate) fn facts(&self, name: &str) -> Vec<&str> {
        let own = inner(&self.table, "facts").map(|facts| list(facts, name)).unwrap_or_default();
        if !own.is_empty() {
            return own;
        }
        let family = self.family.as_ref().and_then(|(_, table)| inner(table, "facts"));
        family.map(|facts| list(facts, name)).unwrap_or_default()
    }

    /// Returns a table of its own, or its family's if it has none.
    pub(crate) fn part(&self, name: &str) -> Option<&Table> {
        inner(&self.table, name).or_else(|| inner(&self.family.as_ref()?.1, name))
    }
}

pub(crate) fn text<'t>(table: &'t Table, name: &str) -> &'t str {
    table.get(name).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn flag(table: &Table, name: &str) -> Option<bool> {
    table.get(name).and_then(Value::as_bool)
}

pub(crate) fn number(table: &Table, name: &str) -> Option<i64> {
    table.get(name).and_then(Value::as_integer)
}

pub(crate) fn list<'t>(table: &'t Table, name: &str) -> Vec<&'t str> {
    array(table, name).iter().filter_map(Value::as_str).collect()
}

pub(crate) fn tables<'t>(table: &'t Table, name: &str) -> Vec<&'t Table> {
    array(table, name).iter().filter_map(Value::as_table).collect()
}

pub(crate) fn inner<'t>(table: &'t Table, name: &str) -> Option<&'t Table> {
    table.get(name).and_then(Value::as_table)
}

pub(crate) fn array<'t>(table: &'t Table, name: &str) -> &'t [Value] {
    table.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
