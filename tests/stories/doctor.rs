//! `hookmitt doctor --fix` mends what is wrong with the data directory.

use std::{fs, os::unix::fs::PermissionsExt as _};

use serde_json::Value;

use super::listen::{folder, run};

#[tokio::test(flavor = "multi_thread")]
async fn doctor_finds_an_inbox_that_others_may_read_and_a_leftover_and_mends_both() {
    let folder = folder();
    let dir = folder.path();
    let (inbox, leftover) = (dir.join("inbox.db"), dir.join("inbox.db.restoring"));
    let checks = ["doctor", "--port", "0", "--api-port", "0"];
    run(dir, &checks).await.exits(0);
    fs::set_permissions(&inbox, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(&leftover, "half a backup").unwrap();

    let found = run(dir, &[&checks[..], &["--json"]].concat()).await.exits(1).json();
    let wrong: Vec<_> = found.iter().filter(|check| check["ok"] == false).collect();
    let about = |name: &str| wrong.iter().any(|check| check["name"] == name && check["fixable"] == true);
    assert!(about("file modes") && about("leftovers"), "{found:?}");
    assert!(wrong.iter().all(|check| check["hint"].as_str().unwrap().contains("--fix")), "{wrong:?}");
    assert!(leftover.exists(), "only --fix changes anything");

    let fixed = run(dir, &[&checks[..], &["--fix"]].concat()).await.exits(0).text();
    assert_eq!(fixed.matches("fixed").count(), wrong.len(), "{fixed}");
    assert_eq!(fs::metadata(&inbox).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!leftover.exists());
    let found = run(dir, &[&checks[..], &["--fix", "--json"]].concat()).await.exits(0).json();
    assert!(found.iter().all(|check| check["fixed"] == Value::Null), "{found:?}");
}
