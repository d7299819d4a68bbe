//! Tests of the private file, the index, and references to the environment.

use std::{collections::BTreeMap, fs, path::Path};

use hookmitt_event::{Explain as _, Slug};
use hookmitt_vault::{Location, Secret, StoreChoice, Vault};
use tempfile::TempDir;

pub(crate) fn slug(text: &str) -> Slug {
    text.parse().expect("a slug")
}

pub(crate) fn vault(directory: &TempDir, choice: StoreChoice) -> Vault {
    Vault::open(&directory.path().join("data"), choice).expect("a fresh directory can be used")
}

/// Returns the secrets that could be read, by source and label, and the codes of the errors for the others.
pub(crate) fn read(vault: &Vault) -> (BTreeMap<String, Vec<u8>>, Vec<&'static str>) {
    let (secrets, problems) = vault.read_all();
    let named = |secret: Secret| (format!("{}/{}", secret.source, secret.label), secret.value.to_vec());
    (secrets.into_iter().map(named).collect(), problems.iter().map(|problem| problem.code()).collect())
}

fn one(name: &str, value: &[u8]) -> BTreeMap<String, Vec<u8>> {
    BTreeMap::from([(name.to_owned(), value.to_vec())])
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    std::os::unix::fs::MetadataExt::mode(&fs::metadata(path).expect("it is there")) & 0o777
}

#[test]
fn secrets_of_any_bytes_come_back_after_a_restart() {
    let directory = TempDir::new().unwrap();
    let first = vault(&directory, StoreChoice::File);
    let github = slug("github");
    assert!(first.list().unwrap().is_empty());
    assert_eq!(first.set(&github, "old", b"\x00\xff\n").unwrap(), Location::File);
    assert_eq!(first.set(&github, "new", b"one").unwrap(), Location::File);
    assert_eq!(first.set(&github, "new", b"two").unwrap(), Location::File);
    assert_eq!(first.set(&slug("stripe"), "new", b"three").unwrap(), Location::File);
    drop(first);

    let second = vault(&directory, StoreChoice::File);
    let labels: Vec<_> = second.list().unwrap().into_iter().map(|entry| entry.label).collect();
    assert_eq!(labels, ["old", "new", "new"]);
    let (secrets, problems) = read(&second);
    assert_eq!(secrets["github/old"], b"\x00\xff\n");
    assert_eq!(secrets["github/new"], b"two");
    assert_eq!(secrets["stripe/new"], b"three");
    assert_eq!(problems, [""; 0]);

    second.remove(&github, "old").unwrap();
    second.remove(&github, "new").unwrap();
    assert_eq!(read(&second).0, one("stripe/new", b"three"));
    assert_eq!(second.remove(&github, "old").unwrap_err().code(), "unknown-secret");
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_what_is_kept() {
    let directory = TempDir::new().unwrap();
    let data = directory.path().join("data");
    let vault = vault(&directory, StoreChoice::File);
    vault.set(&slug("s"), "l", b"value").unwrap();
    // If others had access to the files, the next change takes it from them.
    let open = |name: &str| {
        let rights = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        fs::set_permissions(data.join(name), rights).unwrap();
    };
    let names = ["secrets.json", "secrets.index.json", "secrets.lock"];
    names.iter().for_each(|name| open(name));
    vault.set(&slug("s"), "l", b"value").unwrap();
    assert_eq!(mode(&data), 0o700);
    let mut found: Vec<_> = fs::read_dir(&data).unwrap().map(|file| file.unwrap().file_name()).collect();
    found.sort();
    assert_eq!(found, ["secrets.index.json", "secrets.json", "secrets.lock"]);
    for name in names {
        assert_eq!(mode(&data.join(name)), 0o600, "{name}");
    }
}

#[test]
fn values_are_never_printed_and_never_in_the_index() {
    let directory = TempDir::new().unwrap();
    let vault = vault(&directory, StoreChoice::File);
    vault.set(&slug("s"), "l", b"whsec_hush").unwrap();
    let index = fs::read_to_string(directory.path().join("data/secrets.index.json")).unwrap();
    let shown = format!("{vault:?} {:?} {:?} {index}", vault.read_all(), vault.list());
    let bytes = format!("{:?}", b"whsec_hush");
    for form in ["hush", "d2hzZWNfaHVzaA", bytes.trim_matches(['[', ']'])] {
        assert!(!shown.contains(form), "{shown}");
    }
    assert!(shown.contains("10 bytes"), "{shown}");
}

#[test]
fn a_warning_stands_while_a_value_is_kept_in_the_clear() {
    let directory = TempDir::new().unwrap();
    let vault = vault(&directory, StoreChoice::File);
    assert_eq!(vault.unencrypted(), None);
    vault.set(&slug("s"), "l", b"value").unwrap();
    assert!(vault.unencrypted().unwrap().1.ends_with("secrets.json"));
    vault.set_env(&slug("s"), "l", "PATH").unwrap();
    assert_eq!(vault.unencrypted(), None);
    let file = fs::read_to_string(directory.path().join("data/secrets.json")).unwrap();
    assert_eq!(file, "[]\n", "the value that was replaced is gone");
}

#[test]
fn a_variable_is_read_at_each_start_and_only_its_name_is_kept() {
    let directory = TempDir::new().unwrap();
    let vault = vault(&directory, StoreChoice::File);
    vault.set_env(&slug("s"), "there", "PATH").unwrap();
    vault.set_env(&slug("s"), "not", "HOOKMITT_TEST_NO_SUCH_VARIABLE").unwrap();
    let path = std::env::var("PATH").unwrap();
    assert_eq!(read(&vault), (one("s/there", path.as_bytes()), vec!["secret-env-missing"]));
    let index = fs::read_to_string(directory.path().join("data/secrets.index.json")).unwrap();
    assert!(index.contains("\"env\": \"PATH\"") && !index.contains(&path), "{index}");
    let (_, problems) = vault.read_all();
    let said = format!("{} {}", problems[0], problems[0].hint().unwrap());
    assert!(
        said.contains("secret not of s") && said.contains("set HOOKMITT_TEST_NO_SUCH_VARIABLE"),
        "{said}"
    );
}

#[test]
fn what_can_be_no_secret_is_refused() {
    let directory = TempDir::new().unwrap();
    let vault = vault(&directory, StoreChoice::File);
    let s = slug("s");
    let long = "x".repeat(101);
    let codes = [
        vault.set(&s, "", b"x").unwrap_err().code(),
        vault.set(&s, "a\nb", b"x").unwrap_err().code(),
        vault.set(&s, &long, b"x").unwrap_err().code(),
        vault.set(&s, "l", b"").unwrap_err().code(),
        vault.set_env(&s, "l", "").unwrap_err().code(),
        vault.set_env(&s, "l", "A=B").unwrap_err().code(),
        vault.set_env(&s, "l", "1A").unwrap_err().code(),
    ];
    let want = ["bad-label", "bad-label", "bad-label", "empty-secret"];
    assert_eq!(codes[..4], want);
    assert_eq!(codes[4..], ["bad-env-name"; 3]);
    assert!(vault.list().unwrap().is_empty());
}

#[test]
fn promise_7_a_secret_given_instead_of_its_variable_is_neither_kept_nor_repeated() {
    let directory = TempDir::new().unwrap();
    let vault = vault(&directory, StoreChoice::File);
    for secret in ["whsec_planted", "planted", "PLANTED0123456789", "planted+/="] {
        let error = vault.set_env(&slug("s"), "l", secret).unwrap_err();
        let said = format!("{error} {error:?} {}", error.hint().unwrap());
        assert!(!said.to_lowercase().contains("planted") && said.contains("name"), "{said}");
    }
    assert!(vault.list().unwrap().is_empty());
    vault.set_env(&slug("s"), "l", "HOOKMITT_NOT_SET_YET").unwrap();
}

#[test]
fn a_damaged_file_is_named_and_left_alone() {
    let directory = TempDir::new().unwrap();
    let vault = vault(&directory, StoreChoice::File);
    vault.set(&slug("s"), "l", b"value").unwrap();
    for (name, code) in [("secrets.json", "vault-damaged"), ("secrets.index.json", "vault-damaged")] {
        let path = directory.path().join("data").join(name);
        fs::write(&path, "[{\"source\": hunter2").unwrap();
        let (secrets, problems) = vault.read_all();
        assert!(secrets.is_empty());
        assert_eq!(problems[0].code(), code);
        let said = format!("{:?} {}", problems[0], problems[0]);
        assert!(said.contains(name) && !said.contains("hunter2"), "{said}");
        assert_eq!(vault.set(&slug("s"), "l", b"other").unwrap_err().code(), code);
        assert_eq!(fs::read_to_string(&path).unwrap(), "[{\"source\": hunter2");
        fs::remove_file(&path).unwrap();
        vault.set(&slug("s"), "l", b"value").unwrap();
    }
    let path = directory.path().join("data/secrets.index.json");
    let newer = fs::read_to_string(&path).unwrap().replace("\"format\": 1", "\"format\": 2");
    fs::write(&path, newer).unwrap();
    assert!(vault.list().unwrap_err().to_string().contains("format 2"));
}

#[test]
fn several_processes_may_change_the_secrets_at_once() {
    let directory = TempDir::new().unwrap();
    std::thread::scope(|scope| {
        for source in 0..8 {
            let vault = vault(&directory, StoreChoice::File); // has its own files open, like another process
            scope.spawn(move || {
                for label in 0..8 {
                    let source = slug(&format!("s{source}"));
                    vault.set(&source, &format!("l{label}"), b"value").expect("the lock is waited for");
                }
            });
        }
    });
    let vault = vault(&directory, StoreChoice::File);
    assert_eq!((vault.list().unwrap().len(), vault.read_all().0.len()), (64, 64));
}

#[test]
fn a_directory_that_cant_be_one_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = Vault::open(&file.path().join("data"), StoreChoice::File).unwrap_err();
    assert_eq!(error.code(), "vault-file");
    assert!(error.to_string().contains(&file.path().display().to_string()), "{error}");
}

#[test]
fn the_setting_says_where_secrets_may_be_kept() {
    let choice = |text: &str| text.parse::<StoreChoice>();
    assert_eq!(choice("").unwrap(), StoreChoice::Auto);
    assert_eq!(choice("off").unwrap(), StoreChoice::File);
    assert_eq!(choice("file").unwrap(), StoreChoice::File);
    assert_eq!(choice("required").unwrap(), StoreChoice::Keychain);
    assert_eq!(choice("on").unwrap_err().code(), "bad-keyring-setting");
}
