//! Raw exports contain whatever a sender wrote: signatures, tokens, personal data. Only their owner may read the files.
#![cfg(unix)]

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
};

use hookmitt_stories::{App, Ran};
use tempfile::TempDir;

use super::listen::{folder, run};

/// Makes an inbox with two events that have a token in a header line.
async fn inbox() -> TempDir {
    let app = App::start().await;
    for body in ["one", "two"] {
        app.catch("demo", &[("Authorization", "Bearer of-somebody")], body).await;
    }
    app.stop().await
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

async fn export(data: &TempDir, which: &[&str], to: &Path) -> Ran {
    let to = to.to_str().unwrap();
    run(data.path(), &[&["export"], which, &["--raw", "-o", to]].concat()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_8_a_raw_export_is_for_its_owner_alone_whatever_was_there_before() {
    let (data, out) = (inbox().await, folder());
    let (file, set) = (out.path().join("one.json"), out.path().join("set"));
    export(&data, &["last"], &file).await.exits(0);
    assert_eq!(mode(&file), 0o600);
    let expected = fs::read(&file).unwrap();
    fs::write(&file, "somebody's").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let others = fs::File::open(&file).unwrap();
    export(&data, &["last"], &file).await.exits(0);
    assert_eq!((fs::read(&file).unwrap(), mode(&file)), (expected, 0o600));
    assert_eq!(
        std::io::read_to_string(others).unwrap(),
        "somebody's",
        "who had the file open doesn't see it"
    );

    export(&data, &["--source", "demo"], &set).await.exits(0);
    let made: Vec<_> = fs::read_dir(&set).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(made.len(), 2, "and nothing is left half way: {made:?}");
    for path in &made {
        assert_eq!(mode(path), 0o600, "{}", path.display());
        fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    }
    export(&data, &["--where", "source:demo"], &set).await.exits(0);
    assert!(made.iter().all(|path| mode(path) == 0o600));
    assert_eq!(fs::read_dir(&set).unwrap().count(), 2, "the same two, by a search");
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_8_a_raw_export_follows_no_link_to_another_file() {
    let (data, out) = (inbox().await, folder());
    let (mine, link) = (out.path().join("mine"), out.path().join("link.json"));
    fs::write(&mine, "kept").unwrap();
    symlink(&mine, &link).unwrap();
    let refused = export(&data, &["last"], &link).await.exits(2);
    assert!(refused.err.contains("link"), "{}", refused.err);
    assert_eq!(fs::read(&mine).unwrap(), b"kept");
    let device = export(&data, &["last"], Path::new("/dev/stdout")).await.exits(0);
    assert!(device.text().contains("of-somebody"), "a pipe is written to: {}", device.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_7_a_raw_export_warns_of_what_is_in_it_and_leaves_standard_output_alone() {
    let (data, out) = (inbox().await, folder());
    let plain = run(data.path(), &["export", "last", "--raw"]).await.exits(0);
    let filed = export(&data, &["last"], &out.path().join("x.json")).await.exits(0);
    let json = run(data.path(), &["export", "last", "--raw", "--json"]).await.exits(0);
    for ran in [&plain, &filed, &json] {
        for word in ["warning:", "signatures", "tokens", "personal data"] {
            assert!(ran.err.contains(word), "{}", ran.err);
        }
        assert!(!ran.text().contains("warning:"));
    }
    assert!(plain.err.contains("-o PATH"), "{}", plain.err);
    assert_eq!(plain.out, fs::read(out.path().join("x.json")).unwrap(), "exactly the file");
    assert_eq!(json.json().len(), 1);
}
