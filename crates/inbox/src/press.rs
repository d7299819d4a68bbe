//! Compresses events on a thread of its own, which gives way to everything else.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    io, thread,
};

use tokio::sync::{mpsc, oneshot};
use zstd::{bulk::Compressor, dict::EncoderDictionary};

use crate::{Dictionary, InboxError, form};

/// zstd's own default: a higher level takes several times as long, for a few per cent.
const LEVEL: i32 = 3;

/// How many prepared dictionaries are kept. Each takes a few hundred KiB, and hardly anybody receives from more
/// providers at a time.
const PREPARED: usize = 16;

/// A body of this size stays where it is if compressing it doesn't pay. To move it would only write it once more.
const LARGE: usize = 64 * 1024;

/// An event as it came.
pub(crate) struct Unpacked {
    pub(crate) seq: i64,
    pub(crate) provider: Option<String>,
    pub(crate) headers: Vec<u8>,
    pub(crate) body: Vec<u8>,
}

impl Unpacked {
    pub(crate) fn len(&self) -> usize {
        self.headers.len() + self.body.len()
    }
}

/// An event as it is stored from now on.
pub(crate) struct Pressed {
    pub(crate) seq: i64,
    /// The dictionary's id.
    pub(crate) dictionary: i64,
    pub(crate) headers: Vec<u8>,
    pub(crate) body: Vec<u8>,
    /// How many bytes it had as it came.
    pub(crate) before: usize,
}

/// A batch of compressed events, in order, and the dictionaries that were used.
#[derive(Default)]
pub(crate) struct Bale {
    pub(crate) events: Vec<Pressed>,
    pub(crate) dictionaries: Vec<Dictionary>,
}

type Order = (Vec<Unpacked>, oneshot::Sender<io::Result<Bale>>);

/// The thread that compresses. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Press(mpsc::Sender<Order>);

impl Press {
    /// Starts the thread. `dictionary` makes the dictionary for events of a provider.
    pub(crate) fn start(
        dictionary: impl Fn(Option<&str>) -> Dictionary + Send + 'static,
    ) -> io::Result<Self> {
        let (orders, mut next) = mpsc::channel::<Order>(1);
        thread::Builder::new().name("inbox-packing".to_owned()).spawn(move || {
            hookmitt_sqlite::give_way();
            let mut known = BTreeMap::new();
            while let Some((events, answer)) = next.blocking_recv() {
                let _unheard = answer.send(press(events, &dictionary, &mut known));
            }
        })?;
        Ok(Self(orders))
    }

    /// Compresses a batch.
    pub(crate) async fn press(&self, events: Vec<Unpacked>) -> Result<Bale, InboxError> {
        let (answer, pressed) = oneshot::channel();
        self.0.send((events, answer)).await.map_err(|_| InboxError::Panicked)?;
        let bale = pressed.await.map_err(|_| InboxError::Panicked)?;
        bale.map_err(|why| {
            tracing::error!(%why, "zstd can't compress");
            InboxError::Panicked
        })
    }
}

/// A dictionary as it is given to the compressor.
struct Known {
    dictionary: Dictionary,
    prepared: EncoderDictionary<'static>,
}

fn press(
    events: Vec<Unpacked>,
    dictionary: &impl Fn(Option<&str>) -> Dictionary,
    known: &mut BTreeMap<Option<String>, Known>,
) -> io::Result<Bale> {
    let mut by_provider: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for event in events {
        by_provider.entry(event.provider.clone()).or_default().push(event);
    }
    let mut bale = Bale::default();
    for (provider, events) in by_provider {
        if known.len() >= PREPARED && !known.contains_key(&provider) {
            known.clear();
        }
        let known = match known.entry(provider) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let dictionary = dictionary(place.key().as_deref());
                let prepared = EncoderDictionary::copy(&dictionary.text, LEVEL);
                place.insert(Known { dictionary, prepared })
            }
        };
        let mut compressor = Compressor::with_prepared_dictionary(&known.prepared)?;
        for event in events {
            bale.events.extend(pressed(event, known.dictionary.id(), &mut compressor)?);
        }
        bale.dictionaries.push(known.dictionary.clone());
    }
    bale.events.sort_by_key(|event| event.seq);
    Ok(bale)
}

/// Compresses an event. Returns `None` if it stays as it is.
fn pressed(event: Unpacked, dictionary: i64, compressor: &mut Compressor<'_>) -> io::Result<Option<Pressed>> {
    let before = event.len();
    let Unpacked { seq, headers, body, .. } = event;
    let mut form = |bytes: &[u8]| Ok::<_, io::Error>(form::form(bytes, &compressor.compress(bytes)?));
    let (is_large, body) = (body.len() >= LARGE, form(&body)?);
    if is_large && form::is_plain(&body) {
        return Ok(None);
    }
    Ok(Some(Pressed { seq, dictionary, headers: form(&headers)?, body, before }))
}
