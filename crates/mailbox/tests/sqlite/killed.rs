//! A process is killed in the middle of its work. Everything that was reported to it as done is there.

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    sync::Arc,
};

use hookmitt_mailbox::{Feed as _, Mailbox as _, Quota, SqliteMailbox};
use tokio::task::JoinSet;

use super::child;
use crate::{
    Files,
    contract::{LAPTOP, TUNNEL, clock, drain, parcel, with_tunnel, within},
};

/// The name of the test, as the child process needs it.
const TEST: &str = "sqlite::killed::a_kill_loses_nothing_that_was_answered";

/// After how many answers the parent kills the child, in each round.
const ROUNDS: [usize; 10] = [1, 3, 10, 40, 100, 200, 77, 300, 500, 2];

/// What the store reported to the child as done, and what the child asked for.
#[derive(Default)]
struct Told {
    /// The numbers of letters by their positions.
    put: HashMap<u64, u32>,
    acknowledged: u64,
    asked_to_acknowledge: u64,
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_loses_nothing_that_was_answered() {
    if let Some(path) = child::store() {
        return work(&path).await;
    }
    let files = Files::new();
    with_tunnel(&files).await.close().await;
    let mut told = Told::default();
    for answers in ROUNDS {
        let path = files.path();
        told = tokio::task::spawn_blocking(move || kill_after(answers, &path, told)).await.unwrap();
        within("the store is checked", check(&files.path(), &told)).await;
    }
    assert!(told.acknowledged > 0, "nothing was ever acknowledged");
}

/// Reads the child's output, and kills the child after this many answers.
fn kill_after(answers: usize, path: &Path, mut told: Told) -> Told {
    let mut child = child::command(&[], TEST, path).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut heard = 0;
    while heard < answers {
        let line = lines.next().expect("the child is at work").unwrap();
        heard += usize::from(told.hear(&line));
    }
    child.kill().unwrap();
    // What the child printed before it died counts, too; its last line may be incomplete.
    for line in lines {
        told.hear(&line.unwrap());
    }
    child.wait().unwrap();
    told
}

impl Told {
    /// Takes in a line of the child. Returns whether the line reports something as done.
    fn hear(&mut self, line: &str) -> bool {
        let words: Vec<_> = line.split(' ').collect();
        match words[..] {
            ["put", position, number, "."] => {
                let taken = self.put.insert(position.parse().unwrap(), number.parse().unwrap());
                assert_eq!(taken, None, "position {position} was given out twice");
            }
            ["asks", through, "."] => self.asked_to_acknowledge = through.parse().unwrap(),
            ["acknowledged", through, "."] => self.acknowledged = through.parse().unwrap(),
            _ => return false,
        }
        words[0] != "asks"
    }
}

/// Checks that everything reported to the child as done is there.
async fn check(path: &Path, told: &Told) {
    let store = SqliteMailbox::open(path, Arc::new(clock())).unwrap();
    let cursor = store.devices(TUNNEL).await.unwrap()[0].cursor;
    assert!(cursor >= told.acknowledged, "the cursor is at {cursor}, not at {}", told.acknowledged);
    assert!(cursor <= told.asked_to_acknowledge, "nobody asked for {cursor}");
    let (depth, _) = store.depth(TUNNEL, &LAPTOP).await.unwrap();
    let waiting = drain(&store, TUNNEL, cursor, usize::try_from(depth.letters).unwrap()).await;
    let waiting: HashMap<_, _> = waiting.into_iter().collect();
    for (position, &number) in told.put.iter().filter(|(position, _)| **position > cursor) {
        let letter = waiting.get(position).unwrap_or_else(|| panic!("letter {number} is lost"));
        assert!(*letter == parcel(number, size(number)), "letter {number} is another");
    }
    store.close().await;
}

fn size(number: u32) -> usize {
    usize::try_from(number % 7_000).unwrap()
}

/// The child's work, until it is killed.
async fn work(path: &Path) {
    let store = SqliteMailbox::open(path, Arc::new(clock())).unwrap();
    let mut tasks = JoinSet::new();
    for sender in 0..16 {
        tasks.spawn(send(store.clone(), sender));
    }
    tasks.spawn(acknowledge(store));
    tasks.join_all().await;
}

async fn send(store: SqliteMailbox, sender: u32) {
    for number in (sender..).step_by(16) {
        let position = store.put(TUNNEL, parcel(number, size(number)), &Quota::default()).await.unwrap();
        say(&format!("put {position} {number} ."));
    }
}

async fn acknowledge(store: SqliteMailbox) {
    let cursor = store.devices(TUNNEL).await.unwrap()[0].cursor;
    let mut feed = store.feed(TUNNEL, cursor).await.unwrap();
    loop {
        let next = feed.next(50, 1 << 20).await.unwrap();
        let through = next[next.len() - 1].position;
        say(&format!("asks {through} ."));
        store.ack(TUNNEL, &LAPTOP, through).await.unwrap();
        say(&format!("acknowledged {through} ."));
    }
}

/// Prints one line in one write, on a line of its own even if the test harness has begun one.
fn say(line: &str) {
    std::io::stdout().lock().write_all(format!("\n{line}\n").as_bytes()).unwrap();
}
