//! A full disk: what can't be stored is refused, what was confirmed stays, and storing continues once there is room.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use hookmitt_mailbox::{MOST_TUNNELS, Mailbox as _, MailboxError, Quota, SqliteMailbox};

use super::child;
use crate::contract::{LAPTOP, TUNNEL, clock, drain, eventually, new_tunnel, parcel};

/// The size of the disk, and the bytes of it that are occupied until room is made.
const DISK: &str = "size=12m,mode=700";
const FILLER: usize = 5 << 20;

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_refuses_letters_and_recovers_by_itself() {
    match child::store() {
        Some(path) => among_others(&path).await,
        None => on_a_small_disk("sqlite::full_disk::a_full_disk_refuses_letters_and_recovers_by_itself"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_filled_its_disk_by_itself_gives_all_letters_out_and_has_room_again() {
    const TEST: &str =
        "sqlite::full_disk::a_store_that_filled_its_disk_by_itself_gives_all_letters_out_and_has_room_again";
    match child::store() {
        Some(path) => alone(&path).await,
        None => on_a_small_disk(TEST),
    }
}

/// Runs a test again as a child whose store is on a small disk of its own.
fn on_a_small_disk(test: &str) {
    let Some(namespace) = namespace() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mount =
        format!("mount -t tmpfs -o {DISK} hookmitt {} && exec \"$0\" \"$@\"", folder.path().display());
    let wrapper: Vec<_> = namespace.into_iter().chain(["sh", "-c", &mount]).collect();
    let mut child = child::command(&wrapper, test, &folder.path().join("relay.db")).spawn().unwrap();
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
}

/// Returns the command that gives a mount namespace here: as root, or as root of a user namespace. On Debian it is a
/// failure if neither works.
fn namespace() -> Option<Vec<&'static str>> {
    for way in [vec!["unshare", "--mount"], vec!["unshare", "--map-root-user", "--mount"]] {
        let mount = ["mount", "-t", "tmpfs", "none", "/tmp"];
        let tried = Command::new(way[0]).args(&way[1..]).args(mount).output();
        if tried.is_ok_and(|tried| tried.status.success()) {
            return Some(way);
        }
    }
    let lacks = "a mount namespace for a small disk (unshare --mount) is missing";
    assert!(!Path::new("/etc/debian_version").exists(), "{lacks}: run as root, or allow user namespaces");
    None
}

async fn open(path: &Path) -> SqliteMailbox {
    SqliteMailbox::open(path, Arc::new(clock())).unwrap()
}

async fn with_tunnel(path: &Path) -> SqliteMailbox {
    let store = open(path).await;
    store.add_token("tk", [9; 32], None, MOST_TUNNELS).await.unwrap();
    store.open_tunnel(new_tunnel(TUNNEL, LAPTOP)).await.unwrap();
    store
}

async fn alone(path: &Path) {
    let store = with_tunnel(path).await;
    for round in 0..3 {
        let mut stored = Vec::new();
        for size in [64 << 10, 4 << 10, 1] {
            assert_is_full(fill(&store, size, &mut stored).await);
        }
        assert!(stored.len() > 50, "{} were stored before the disk was full", stored.len());
        assert_is_full(store.check().await.unwrap_err());
        // A process that was killed leaves a log behind, with which the next process has to cope.
        let next = open(path).await;
        let (_, newest) = next.depth(TUNNEL, &LAPTOP).await.unwrap();
        let store = if round == 1 { &next } else { &store };
        drain(store, TUNNEL, newest - stored.len() as u64, stored.len()).await;
        // Acknowledged all at once or one by one; each acknowledgement is a commit of its own, and none adds anything.
        let first = if round == 2 { newest - stored.len() as u64 + 1 } else { newest };
        for position in first..=newest {
            store.ack(TUNNEL, &LAPTOP, position).await.unwrap();
        }
        eventually("they are deleted", async || (store.usage().await.unwrap().letters == 0).then_some(()))
            .await;
        next.close().await;
    }
}

async fn among_others(path: &Path) {
    let filler = path.with_file_name("filler");
    let store = with_tunnel(path).await;
    std::fs::write(&filler, vec![1; FILLER]).unwrap();

    // Large letters first, then letters that fit into the rest.
    let mut stored = Vec::new();
    for size in [64 << 10, 4 << 10, 1] {
        assert_is_full(fill(&store, size, &mut stored).await);
    }
    assert!(stored.len() > 10, "{} were stored before the disk was full", stored.len());
    for number in 0..20 {
        assert_is_full(store.put(TUNNEL, parcel(number, 70_000), &Quota::default()).await.unwrap_err());
    }
    assert_stored(&store, &stored).await;

    std::fs::remove_file(PathBuf::from(&filler)).unwrap();
    for _ in 0..100 {
        put(&store, 4 << 10, &mut stored).await.expect("there is room again");
    }
    assert_stored(&store, &stored).await;
    store.close().await;
    assert_stored(&open(path).await, &stored).await;
}

/// Puts letters of this size until one is refused.
async fn fill(store: &SqliteMailbox, size: usize, stored: &mut Vec<usize>) -> MailboxError {
    for _ in 0..20_000 {
        if let Err(refused) = put(store, size, stored).await {
            return refused;
        }
    }
    panic!("a disk of 12 MiB takes 20,000 more letters");
}

/// Puts the next letter. `stored` holds the sizes of all letters so far.
async fn put(store: &SqliteMailbox, size: usize, stored: &mut Vec<usize>) -> Result<(), MailboxError> {
    let number = u32::try_from(stored.len()).unwrap();
    store.put(TUNNEL, parcel(number, size), &Quota::default()).await?;
    stored.push(size);
    Ok(())
}

fn assert_is_full(refused: MailboxError) {
    assert!(matches!(refused, MailboxError::DiskFull), "{refused}");
}

async fn assert_stored(store: &SqliteMailbox, stored: &[usize]) {
    let (depth, _) = store.depth(TUNNEL, &LAPTOP).await.unwrap();
    assert_eq!(depth.letters, u64::try_from(stored.len()).unwrap());
    let drained = drain(store, TUNNEL, 0, stored.len()).await;
    for (number, (&size, (_, got))) in (0..).zip(stored.iter().zip(&drained)) {
        assert!(*got == parcel(number, size), "letter {number} of {size} bytes is another");
    }
}
