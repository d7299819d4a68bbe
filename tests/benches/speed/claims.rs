//! How long it takes to claim a target's next delivery, if few and if many deliveries wait for it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::bail;
use hookmitt_clock::{Clock as _, MachineClock};
use hookmitt_event::{NoConnection, OrderMode, Silence, TargetId, TargetKind};
use hookmitt_inbox::{Claiming, Finish, Inbox, Next, SourceSettings, TargetSettings};
use rusqlite::params;
use tokio::runtime::Runtime;

use crate::{
    folder::DataDir,
    report::{at_most, median, millis},
};

const FEW: u32 = 10;
const MANY: u32 = 100_000;
const CLAIMS: usize = 200;
const LONGEST: Duration = Duration::from_secs(3_600);

/// For each order mode: the median time of a claim with 100,000 waiting deliveries, divided by that with 10.
pub(crate) type Claims = Vec<(OrderMode, f64)>;

pub(crate) fn print(claims: &Claims) {
    for (order, ratio) in claims {
        at_most(&format!("claim, 100,000 : 10 waiting, {order}"), *ratio, 1.5);
    }
}

pub(crate) fn measured(runtime: &Runtime) -> anyhow::Result<Claims> {
    let orders = [OrderMode::Sequential, OrderMode::Fifo, OrderMode::FifoByKey];
    orders
        .into_iter()
        .map(|order| {
            let (few, many) = (Queue::with(runtime, order, FEW)?, Queue::with(runtime, order, MANY)?);
            let (mut small, mut large) = (Vec::new(), Vec::new());
            for _ in 0..CLAIMS {
                small.push(millis(runtime.block_on(few.look())?));
                large.push(millis(runtime.block_on(many.look())?));
            }
            Ok((order, median(large) / median(small)))
        })
        .collect()
}

/// A target's queue, whose events all belong to the same object.
struct Queue {
    inbox: Inbox,
    target: TargetId,
    order: OrderMode,
    _folder: DataDir,
}

impl Queue {
    fn with(runtime: &Runtime, order: OrderMode, waiting: u32) -> anyhow::Result<Self> {
        let folder = DataDir::new(&format!("claims-{order}-{waiting}"))?;
        let inbox = {
            let _within = runtime.enter();
            Inbox::open(folder.path(), Arc::new(MachineClock))?
        };
        let now = MachineClock.now();
        let target = runtime.block_on(async {
            inbox.add_source("demo".parse()?, SourceSettings::default(), false, now).await?;
            let settings = TargetSettings { order, ..TargetSettings::default() };
            let url = "http://127.0.0.1:1/".to_owned();
            anyhow::Ok(inbox.add_target(None, url, settings, TargetKind::Kept, now).await?.id)
        })?;
        fill(&folder, target, waiting)?;
        let queue = Self { inbox, target, order, _folder: folder };
        runtime.block_on(queue.look())?; // a warm-up, so that one-time work isn't measured
        Ok(queue)
    }

    /// Returns how long it takes to claim the next delivery, and gives the claim back.
    async fn look(&self) -> anyhow::Result<Duration> {
        let begun = Instant::now();
        let next =
            self.inbox.claim(Claiming { target: self.target, order: self.order, longest: LONGEST }).await?;
        let took = begun.elapsed();
        let Next::Claimed(claimed) = next else { bail!("nothing was to be claimed: {next:?}") };
        let nobody = Silence { why: NoConnection::ConnectionRefused, error: "nobody is there".to_owned() };
        self.inbox.finish(&claimed, Finish::Unreachable(nobody), None).await?;
        Ok(took)
    }
}

/// Stores events of a single object, each with a pending delivery.
fn fill(folder: &DataDir, target: TargetId, waiting: u32) -> anyhow::Result<()> {
    const EVENTS: &str = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?1)
        INSERT INTO event (seq, id, source, received_at, via, verdict, flags, object, method, path, version, size,
            sha256, headers, body)
        SELECT n, unhex(format('%032x', n)), 1, n, 0, 0, 0, 'one', 'POST', '', 11, 0, zeroblob(32), x'', x'' FROM n";
    const DELIVERIES: &str =
        "INSERT INTO delivery (event, number, target, state) SELECT seq, 1, ?1, 0 FROM event ORDER BY seq";
    let mut db = rusqlite::Connection::open(folder.path().join("inbox.db"))?;
    let transaction = db.transaction()?;
    transaction.execute(EVENTS, [waiting])?;
    transaction.execute(DELIVERIES, params![target.0])?;
    Ok(transaction.commit()?)
}
