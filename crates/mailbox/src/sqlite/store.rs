//! The [`Mailbox`] of the SQLite store.

use std::{
    fs::File,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use hookmitt_clock::{Clock, StoreClock};
use hookmitt_sqlite::Readers;
use hookmitt_wire::{Depth, Parcel, SourceOffer};

use super::{
    clock, devices,
    feed::{Bells, SqliteFeed},
    held::{HeldSenders, SqliteHeld},
    letters, offers,
    refusals::Refusals,
    schema, sweep, tokens,
    tunnel_cache::{Asked, TunnelCache},
    tunnels, usage,
    writer::{self, Jobs},
};
use crate::{
    Device, DeviceKey, Mailbox, MailboxError, NewDevice, NewTunnel, Quota, Reply, Revocation, Token, Tunnel,
    Usage,
    age::{Moment, Note},
};

/// Mailboxes in one SQLite file; clones share it.
///
/// Only one relay serves a file; other processes may add and revoke tokens meanwhile.
#[derive(Clone, Debug)]
pub struct SqliteMailbox {
    jobs: Jobs,
    readers: Readers<MailboxError>,
    cache: Arc<TunnelCache>,
    bells: Bells,
    refusals: Arc<Refusals>,
    senders: HeldSenders,
    clock: StoreClock,
    /// The clock as it was last noted.
    noted: Arc<Mutex<Note>>,
    path: Arc<Path>,
}

/// The right of one relay to serve a file, held until this is dropped or the process ends.
#[derive(Debug)]
pub struct Alone {
    _lock: File,
}

impl SqliteMailbox {
    /// Opens the file, creating it (0600) or migrating it if necessary. `machine` is the machine's clock.
    ///
    /// # Errors
    /// Returns [`MailboxError::Open`] if the file can't be opened, created or migrated.
    pub fn open(path: &Path, machine: Arc<dyn Clock>) -> Result<Self, MailboxError> {
        schema::prepare(path)?;
        let (clock, noted) = clock::resume(path, machine)?;
        let (cache, bells) = (Arc::new(TunnelCache::new()), Bells::default());
        let refusals = Arc::new(Refusals::new());
        let jobs = writer::start(path, Arc::clone(&cache), bells.clone(), Arc::clone(&refusals))?;
        let path: Arc<Path> = path.into();
        let (readers, senders) = (Readers::new(Arc::clone(&path)), HeldSenders::default());
        let noted = Arc::new(Mutex::new(noted));
        Ok(Self { jobs, readers, cache, bells, refusals, senders, clock, noted, path })
    }

    /// Locks the file against other relays. A second relay would not learn of the letters that arrive here.
    ///
    /// # Errors
    /// Returns [`MailboxError::InUse`] if another relay has the lock, and [`MailboxError::Open`] if the lock file can't
    /// be used.
    pub fn alone(&self) -> Result<Alone, MailboxError> {
        match hookmitt_sqlite::take(&hookmitt_sqlite::beside(&self.path, "-relay")) {
            Ok(Some(lock)) => Ok(Alone { _lock: lock }),
            Ok(None) => Err(MailboxError::InUse(self.path.display().to_string())),
            Err(error) => Err(schema::unusable(&self.path, &error)),
        }
    }

    fn now(&self) -> Moment {
        Moment::of(&self.clock)
    }

    /// Advances the noted clock to `now` and returns the note to write.
    fn next_note(&self, now: Moment) -> Note {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        *noted = noted.next(now);
        *noted
    }
}

impl Mailbox for SqliteMailbox {
    type Feed = SqliteFeed;
    type Held = SqliteHeld;
    type Present = ();

    async fn add_token(
        &self,
        id: &str,
        hash: [u8; 32],
        name: Option<&str>,
        most_tunnels: u32,
    ) -> Result<(), MailboxError> {
        let (id, name, wall) = (id.to_owned(), name.map(str::to_owned), self.now().wall);
        self.jobs
            .write(move |batch| tokens::add(batch, &id, &hash, name.as_deref(), most_tunnels, wall))
            .await
    }

    async fn tokens(&self) -> Result<Vec<Token>, MailboxError> {
        self.readers.read(tokens::all).await
    }

    async fn token(&self, hash: [u8; 32]) -> Result<Option<String>, MailboxError> {
        self.readers.read(move |db| tokens::find(db, &hash)).await
    }

    async fn rotate_token(&self, id: &str, hash: [u8; 32]) -> Result<(), MailboxError> {
        let id = id.to_owned();
        self.jobs.write(move |batch| tokens::rotate(batch, &id, &hash)).await
    }

    async fn revoke_token(&self, id: &str) -> Result<(), MailboxError> {
        let (id, now) = (id.to_owned(), self.now());
        self.jobs.write(move |batch| tokens::revoke(batch, &id, now)).await
    }

    async fn open_tunnel(&self, tunnel: NewTunnel) -> Result<(), MailboxError> {
        let now = self.now();
        self.jobs.write(move |batch| tunnels::open(batch, &tunnel, now)).await
    }

    async fn tunnel(&self, name: &str) -> Result<Option<Arc<Tunnel>>, MailboxError> {
        let mut asked = self.cache.ask(name);
        while matches!(asked, Asked::Compare) {
            self.cache.compare(self.readers.read(tunnels::config).await?);
            asked = self.cache.ask(name);
        }
        let since = match asked {
            Asked::Tunnel(tunnel) => return Ok(Some(tunnel)),
            Asked::None => return Ok(None),
            Asked::Read(since) => since,
            Asked::Compare => 0, // the loop has handled it
        };
        let wanted = name.to_owned();
        let found = self.readers.read(move |db| tunnels::find(db, &wanted)).await?.map(Arc::new);
        match &found {
            Some(tunnel) => self.cache.learn(since, tunnel),
            None => self.cache.learn_none(since, name),
        }
        Ok(found)
    }

    async fn set_sources(
        &self,
        tunnel: &str,
        device: &DeviceKey,
        sources: Vec<SourceOffer>,
    ) -> Result<(), MailboxError> {
        let (tunnel, device) = (tunnel.to_owned(), *device);
        self.jobs.write(move |batch| offers::set(batch, &tunnel, &device, &sources)).await
    }

    async fn add_invite(&self, tunnel: &str, code: [u8; 32], lasting: Duration) -> Result<i64, MailboxError> {
        let (tunnel, now) = (tunnel.to_owned(), self.now());
        self.jobs.write(move |batch| devices::add_invite(batch, &tunnel, &code, lasting, now)).await
    }

    async fn join(
        &self,
        tunnel: &str,
        code: [u8; 32],
        device: NewDevice,
        most: usize,
    ) -> Result<bool, MailboxError> {
        let (tunnel, wanted, now) = (tunnel.to_owned(), tunnel.to_owned(), self.now());
        self.readers.read(move |db| devices::try_code(db, &wanted, &code, now)).await?;
        self.jobs.write(move |batch| devices::join(batch, &tunnel, &code, &device, most, now)).await
    }

    async fn introduce(
        &self,
        tunnel: &str,
        device: &DeviceKey,
        letters: u8,
        proof: [u8; 32],
    ) -> Result<(), MailboxError> {
        let (tunnel, device) = (tunnel.to_owned(), *device);
        self.jobs.write(move |batch| devices::introduce(batch, &tunnel, &device, letters, &proof)).await
    }

    async fn revoke(&self, tunnel: &str, by: &DeviceKey, revocation: Revocation) -> Result<(), MailboxError> {
        let (tunnel, by) = (tunnel.to_owned(), *by);
        self.jobs.write(move |batch| devices::revoke(batch, &tunnel, &by, &revocation)).await
    }

    async fn devices(&self, tunnel: &str) -> Result<Vec<Device>, MailboxError> {
        let tunnel = tunnel.to_owned();
        self.readers.read(move |db| devices::all(db, &tunnel)).await
    }

    async fn seen(&self, tunnel: &str, device: &DeviceKey) -> Result<(), MailboxError> {
        let (tunnel, device, now) = (tunnel.to_owned(), *device, self.now());
        self.jobs.write(move |batch| devices::seen(batch, &tunnel, &device, now)).await
    }

    async fn leave(&self, tunnel: &str, device: &DeviceKey) -> Result<(), MailboxError> {
        let (tunnel, device, now) = (tunnel.to_owned(), *device, self.now().store);
        self.jobs.write(move |batch| devices::leave(batch, &tunnel, &device, now)).await
    }

    async fn put(&self, tunnel: &str, parcel: Parcel, quota: &Quota) -> Result<u64, MailboxError> {
        let (tunnel, quota, now) = (tunnel.to_owned(), *quota, self.now());
        let weight = parcel.data.len();
        self.jobs.write_now(weight, move |batch| letters::put(batch, &tunnel, &parcel, &quota, now)).await
    }

    async fn feed(&self, tunnel: &str, after: u64) -> Result<SqliteFeed, MailboxError> {
        let name: Arc<str> = tunnel.into();
        let wanted = Arc::clone(&name);
        let id = self.readers.read(move |db| tunnels::id(db, &wanted)).await?;
        let (readers, bells, bell) = (self.readers.clone(), self.bells.clone(), self.bells.listen(id));
        Ok(SqliteFeed { readers, bells, bell, name, tunnel: id, after, is_new: true, is_due: true })
    }

    async fn ack(&self, tunnel: &str, device: &DeviceKey, through: u64) -> Result<(), MailboxError> {
        let (tunnel, device) = (tunnel.to_owned(), *device);
        self.jobs.write(move |batch| letters::ack(batch, &tunnel, &device, through)).await
    }

    async fn depth(&self, tunnel: &str, device: &DeviceKey) -> Result<(Depth, u64), MailboxError> {
        let (tunnel, device) = (tunnel.to_owned(), *device);
        let count = self.refusals.of(&tunnel);
        self.readers.read(move |db| letters::depth(db, &tunnel, &device, count)).await
    }

    fn count_refused(&self, tunnel: &str, unknown_source: bool) {
        self.refusals.count(tunnel, unknown_source, self.now().wall);
    }

    async fn hold(&self, event: [u8; 16]) -> Result<SqliteHeld, MailboxError> {
        Ok(self.senders.hold(event))
    }

    async fn answer(&self, event: [u8; 16], reply: Reply) -> Result<(), MailboxError> {
        self.senders.answer(event, reply);
        Ok(())
    }

    async fn attend(&self, _: &str) {}

    async fn is_attended_elsewhere(&self, _: &str) -> bool {
        false // one relay serves a file
    }

    async fn sweep(&self, quota: &Quota) -> Result<(), MailboxError> {
        let now = self.now();
        let note = self.next_note(now);
        self.jobs.write(move |batch| clock::note(batch, note)).await?;
        let limits = sweep::Limits::new(quota, &note, now);
        let tunnels: Arc<[String]> = self.jobs.write(move |batch| sweep::begin(batch, now)).await?.into();
        let mut left = tunnels.len();
        while left > 0 {
            let list = Arc::clone(&tunnels);
            let step = move |batch: &mut writer::Batch<'_>| sweep::step(batch, &list[..left], limits);
            left = self.jobs.write(step).await?;
        }
        while self.jobs.write(sweep::shrink).await? {}
        Ok(())
    }

    async fn check(&self) -> Result<(), MailboxError> {
        // A real write, like that of a letter: nothing less shows that the disk is full or that the writer has ended.
        const SQL: &str = "UPDATE meta SET value = value WHERE key = 'config'";
        self.jobs.add(1, |batch| Ok(batch.db.execute(SQL, []).map(drop)?)).await
    }

    async fn usage(&self) -> Result<Usage, MailboxError> {
        let (mut usage, mut next) = (Usage::default(), Some(0));
        while let Some(after) = next {
            (usage, next) = self
                .readers
                .read(move |db| {
                    let next = usage::add(db, &mut usage, after)?;
                    Ok((usage, next))
                })
                .await?;
        }
        Ok(usage)
    }

    async fn close(&self) {
        self.jobs.close().await;
        self.readers.close().await;
    }
}
