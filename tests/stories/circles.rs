//! Within a crate, a module can be read knowing only the modules beneath it: no two modules use each other, directly or
//! through others.

use std::{fs, path::Path};

use hookmitt_stories::{Modules, circles};

#[test]
fn no_modules_of_a_crate_use_each_other_in_a_circle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let crates = fs::read_dir(root.join("crates")).expect("the crates");
    let crates = crates.map(|entry| entry.expect("a crate").path());
    let (mut count, mut found) = (0, Vec::new());
    for folder in crates.chain([root.join("src-tauri")]) {
        let modules = Modules::read(&folder);
        count += modules.len();
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        found.extend(circles(&modules.edges()).iter().map(|circle| format!("{name}: {}", circle.join(", "))));
    }
    assert!(count > 400, "only {count} modules were found");
    assert!(
        found.is_empty(),
        "move what they share beneath both, or what joins them above:\n{}",
        found.join("\n")
    );
}

#[test]
fn a_circle_is_noticed_around_corners_and_through_reexports() {
    let modules = Modules::from_texts(&[
        ("lib.rs", "mod a; mod b; mod c; mod d; pub use c::C;"),
        ("a.rs", "use crate::b::make; pub struct A; fn f() { make(); }"),
        ("b.rs", "pub fn make() { crate::C::new() }"),
        ("c.rs", "pub struct C; impl C { pub fn new() { println!(\"{}\", super::a::A); } }"),
        ("d.rs", "use crate::{a::A, b};\nfn g(a: A) { b::make() }"),
    ]);
    assert_eq!(circles(&modules.edges()), [["a", "b", "c"]]);
    assert_eq!(modules.edges()["d"].iter().collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn tests_reexports_and_names_of_crates_make_no_circle() {
    let modules = Modules::from_texts(&[
        ("lib.rs", "mod a; mod b; pub use a::A; pub use b::B;"),
        ("a.rs", "pub struct A; #[cfg(test)] mod tests { use crate::B; } #[test] fn t() { crate::B; }"),
        ("b.rs", "use url; use crate::A; pub struct B(A); pub use crate::b::B as Same;"),
    ]);
    assert_eq!(circles(&modules.edges()), Vec::<Vec<String>>::new());
}
