//! Which modules of a crate use which others, read from its sources.
//!
//! A module is a file. It uses another module if a `use` or a path in its code names something that is defined there,
//! through whichever re-export. Re-exports and tests don't count as use.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, File, Ident, Item, ItemMod, ItemUse, Macro, Meta, UseTree, Visibility,
    visit::{self, Visit},
};

/// The segments of a path, for example `crate`, `client`, `Client`.
type Segments = Vec<String>;

/// The modules of one crate and what they use, by path from the crate's root, for example `verbs::serve`.
#[derive(Debug, Default)]
pub struct Modules {
    by_path: BTreeMap<Segments, Module>,
}

/// What one file contains.
#[derive(Debug, Default)]
struct Module {
    /// The names of the items that are defined here.
    items: BTreeSet<String>,
    children: BTreeSet<String>,
    /// The names that a `use` brings in, and the paths that they stand for.
    imports: BTreeMap<String, Segments>,
    /// The paths before `::*` in `use …::*`.
    globs: Vec<Segments>,
    /// Every path that is used. Re-exports are left out.
    mentions: Vec<Segments>,
}

impl Modules {
    /// Reads a crate from the folder of its `Cargo.toml`.
    pub fn read(folder: &Path) -> Self {
        let root = ["src/lib.rs", "src/main.rs"]
            .map(|name| folder.join(name))
            .into_iter()
            .find(|path| path.exists());
        let mut modules = Self::default();
        modules.add_file(&root.expect("lib.rs or main.rs"), Vec::new());
        modules
    }

    /// Reads a crate from texts by file name, for example `("lib.rs", "mod a;")`. Modules in folders are not supported.
    pub fn from_texts(files: &[(&str, &str)]) -> Self {
        let mut modules = Self::default();
        for (name, text) in files {
            let name = name.trim_end_matches(".rs");
            let path = if name == "lib" { Vec::new() } else { vec![name.to_owned()] };
            let module = Module::of(&syn::parse_file(text).expect("Rust"));
            modules.by_path.insert(path, module);
        }
        modules
    }

    /// Returns how many modules there are.
    pub fn len(&self) -> usize {
        self.by_path.len()
    }

    /// Returns whether there are no modules.
    pub fn is_empty(&self) -> bool {
        self.by_path.is_empty()
    }

    /// Returns the modules that each module uses.
    pub fn edges(&self) -> BTreeMap<String, BTreeSet<String>> {
        let edges = self.by_path.iter().map(|(path, module)| {
            let used = module.mentions.iter().filter_map(|mention| self.resolve(path, mention, 0));
            let others = used.filter(|used| used != path).map(|used| shown(&used));
            (shown(path), others.collect())
        });
        edges.collect()
    }

    fn add_file(&mut self, file: &Path, path: Segments) {
        let text = fs::read_to_string(file).expect("a source file");
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        if is_test(&parsed.attrs) {
            return;
        }
        let module = Module::of(&parsed);
        let folder = folder_of(file);
        for child in &module.children {
            let places = [folder.join(format!("{child}.rs")), folder.join(child).join("mod.rs")];
            let place = places.iter().find(|place| place.exists());
            let place = place.unwrap_or_else(|| panic!("{}: no file for {child}", file.display()));
            self.add_file(place, path.iter().cloned().chain([child.clone()]).collect());
        }
        self.by_path.insert(path, module);
    }

    /// Returns the module that defines what a path names, if it is in this crate.
    fn resolve(&self, from: &Segments, path: &[String], depth: usize) -> Option<Segments> {
        // Names that import each other would lead to endless recursion.
        if depth > 16 {
            return None;
        }
        let (mut at, mut rest) = (from.clone(), path);
        while let Some((first, others)) = rest.split_first() {
            match first.as_str() {
                "crate" => at.clear(),
                "super" => drop(at.pop()?),
                "self" => {}
                _ => break,
            }
            rest = others;
        }
        let (first, others) = rest.split_first()?;
        let module = self.by_path.get(&at)?;
        if module.children.contains(first) && !others.is_empty() {
            at.push(first.clone());
            return self.resolve(&at, others, depth + 1);
        }
        if module.items.contains(first) {
            return Some(at);
        }
        let through = |start: &Segments, rest: &[String]| {
            let whole: Segments = start.iter().chain(rest).cloned().collect();
            (whole != rest).then(|| self.resolve(&at, &whole, depth + 1)).flatten()
        };
        match module.imports.get(first) {
            Some(import) if import.as_slice() == [first.clone()] => None, // a crate of that name
            Some(import) => through(import, others),
            None => module.globs.iter().find_map(|glob| through(glob, rest)),
        }
    }
}

/// Returns the groups of modules that use each other in circles, each group as a sorted list of names. The list of
/// groups is sorted, too.
pub fn circles(edges: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reached: BTreeMap<_, _> = edges.keys().map(|start| (start, reach(edges, start))).collect();
    let is_mutual =
        |one: &String, other: &String| reached[one].contains(other) && reached[other].contains(one);
    let circles = edges
        .keys()
        .filter(|one| is_mutual(one, one))
        .map(|one| edges.keys().filter(|other| is_mutual(one, other)).cloned().collect::<Vec<_>>());
    circles.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns what a module uses, directly and indirectly.
fn reach(edges: &BTreeMap<String, BTreeSet<String>>, start: &String) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut next = vec![start];
    while let Some(one) = next.pop() {
        next.extend(edges.get(one).into_iter().flatten().filter(|used| seen.insert((*used).clone())));
    }
    seen
}

fn shown(path: &[String]) -> String {
    if path.is_empty() { "lib".to_owned() } else { path.join("::") }
}

/// Returns the folder that contains a file's child modules.
fn folder_of(file: &Path) -> PathBuf {
    let is_root = ["mod.rs", "lib.rs", "main.rs"].iter().any(|name| file.ends_with(name));
    if is_root { file.parent().expect("a folder").to_owned() } else { file.with_extension("") }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string().starts_with("test"),
        Meta::NameValue(_) => false,
    })
}

impl Module {
    fn of(file: &File) -> Self {
        let mut module = Self::default();
        for item in &file.items {
            module.add(item);
        }
        module
    }

    fn add(&mut self, item: &Item) {
        let (name, attributes) = named(item);
        if is_test(attributes) {
            return;
        }
        match item {
            Item::Mod(ItemMod { ident, content: None, .. }) => drop(self.children.insert(ident.to_string())),
            Item::Use(item) => self.import(item),
            _ => {
                self.items.extend(name.map(Ident::to_string));
                Mentions(self).visit_item(item);
            }
        }
    }

    fn import(&mut self, item: &ItemUse) {
        let is_reexport = !matches!(item.vis, Visibility::Inherited);
        self.import_tree(&item.tree, Vec::new(), is_reexport);
    }

    fn import_tree(&mut self, tree: &UseTree, mut path: Segments, is_reexport: bool) {
        match tree {
            UseTree::Path(step) => {
                path.push(step.ident.to_string());
                self.import_tree(&step.tree, path, is_reexport);
            }
            UseTree::Name(name) => self.import_name(path, &name.ident, &name.ident, is_reexport),
            UseTree::Rename(name) => self.import_name(path, &name.ident, &name.rename, is_reexport),
            UseTree::Glob(_) => self.globs.push(path),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import_tree(tree, path.clone(), is_reexport);
                }
            }
        }
    }

    fn import_name(&mut self, mut path: Segments, name: &Ident, called: &Ident, is_reexport: bool) {
        if name != "self" {
            path.push(name.to_string());
        }
        if !is_reexport {
            self.mentions.push(path.clone());
        }
        let called = if called == "self" { path.last().cloned() } else { Some(called.to_string()) };
        if let Some(called) = called.filter(|called| called != "_") {
            self.imports.insert(called, path);
        }
    }

    /// Adds the paths in a macro's tokens: everything that looks like a path.
    fn mention_tokens(&mut self, tokens: TokenStream) {
        let (mut path, mut colons) = (Segments::new(), 0);
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                TokenTree::Ident(ident) if colons == 2 && !path.is_empty() => path.push(ident.to_string()),
                TokenTree::Ident(ident) => {
                    self.mentions.push(std::mem::replace(&mut path, vec![ident.to_string()]));
                }
                TokenTree::Group(group) => {
                    self.mentions.push(std::mem::take(&mut path));
                    self.mention_tokens(group.stream());
                }
                _ => self.mentions.push(std::mem::take(&mut path)),
            }
            colons = 0;
        }
        self.mentions.push(path);
    }
}

fn named(item: &Item) -> (Option<&Ident>, &[Attribute]) {
    match item {
        Item::Const(item) => (Some(&item.ident), &item.attrs),
        Item::Enum(item) => (Some(&item.ident), &item.attrs),
        Item::Fn(item) => (Some(&item.sig.ident), &item.attrs),
        Item::Impl(item) => (None, &item.attrs),
        Item::Macro(item) => (item.ident.as_ref(), &item.attrs),
        Item::Mod(item) => (None, &item.attrs),
        Item::Static(item) => (Some(&item.ident), &item.attrs),
        Item::Struct(item) => (Some(&item.ident), &item.attrs),
        Item::Trait(item) => (Some(&item.ident), &item.attrs),
        Item::Type(item) => (Some(&item.ident), &item.attrs),
        Item::Use(item) => (None, &item.attrs),
        _ => (None, &[]),
    }
}

/// Collects the paths in a piece of code.
struct Mentions<'m>(&'m mut Module);

impl<'code> Visit<'code> for Mentions<'_> {
    fn visit_path(&mut self, path: &'code syn::Path) {
        self.0.mentions.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, given: &'code Macro) {
        self.0.mention_tokens(given.tokens.clone());
        visit::visit_macro(self, given);
    }

    fn visit_attribute(&mut self, attribute: &'code Attribute) {
        if let Meta::List(list) = &attribute.meta {
            self.0.mention_tokens(list.tokens.clone());
        }
    }

    fn visit_item_use(&mut self, item: &'code ItemUse) {
        self.0.import(item);
    }
}
