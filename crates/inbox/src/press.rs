//! Compresses events on a thread of its own, which gives way to everything else.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    io, thread,
};

use tokio::sync::{mpsc, oneshot};
use zstd::{bulk::Compressor, dict::EncoderDictionary};

use crate::{Dictionary, InboxError, form};

/// Half again as slow as zstd's own default of 3, for a twentieth less; still higher levels take several times as long.
pub(crate) const LEVEL: i32 = 6;

/// How many prepared dictionaries are kept. Each takes a few hundred KiB, and hardly anybody receives from more
/// providers at a time.
const PREPARED: usize = 16;

/// A body of this size stays where it is if compressing it doesn't pay. To move it would only write it once more.
const LARGE: usize = 64 * 1024;

/// A body of this size or more is compressed alone. Smaller ones share blocks of at most so many bodies and bytes: whoever
/// reads one of them decompresses the whole block.
const ALONE: usize = 16 * 1024;
const BLOCK_EVENTS: usize = 64;
const BLOCK_BYTES: usize = 128 * 1024;

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
    pub(crate) body: Body,
    /// How many bytes it had as it came.
    pub(crate) before: usize,
}

/// Where the body of a packed event is.
pub(crate) enum Body {
    /// In its own row, in this form.
    Own(Vec<u8>),
    /// In the block of its group, so many bytes after the beginning.
    Shared { start: usize, length: usize },
}

/// Bodies that are compressed together.
pub(crate) struct Block {
    /// The dictionary's id.
    pub(crate) dictionary: i64,
    pub(crate) events: usize,
    pub(crate) data: Vec<u8>,
}

/// Compressed events that are stored together: those of one block, or one by itself.
#[derive(Default)]
pub(crate) struct Group {
    pub(crate) block: Option<Block>,
    pub(crate) events: Vec<Pressed>,
}

/// A batch of compressed events, and the dictionaries that were used.
#[derive(Default)]
pub(crate) struct Bale {
    pub(crate) groups: Vec<Group>,
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
        bale.dictionaries.push(known.dictionary.clone());
        let mut compressor = Compressor::with_prepared_dictionary(&known.prepared)?;
        compressor.include_checksum(true)?; // so that bytes that changed on the disk aren't taken for the ones that came
        let mut maker = Maker { compressor, dictionary: known.dictionary.id() };
        for together in shared_out(events) {
            hookmitt_sqlite::pause();
            bale.groups.push(maker.press(together)?);
        }
    }
    Ok(bale)
}

/// Shares events out into groups whose bodies are compressed together, one by one where they aren't.
fn shared_out(events: Vec<Unpacked>) -> Vec<Vec<Unpacked>> {
    let (mut groups, mut open, mut size) = (Vec::new(), Vec::new(), 0);
    for event in events {
        if event.body.is_empty() || event.body.len() >= ALONE {
            groups.push(vec![event]);
            continue;
        }
        size += event.body.len();
        open.push(event);
        if open.len() == BLOCK_EVENTS || size >= BLOCK_BYTES {
            groups.push(std::mem::take(&mut open));
            size = 0;
        }
    }
    groups.push(open);
    groups
}

/// Compresses events of one provider.
struct Maker<'a> {
    compressor: Compressor<'a>,
    dictionary: i64,
}

impl Maker<'_> {
    /// Compresses events, with their bodies in one block if there are several.
    fn press(&mut self, events: Vec<Unpacked>) -> io::Result<Group> {
        if events.len() < 2 {
            return events.into_iter().next().map_or_else(|| Ok(Group::default()), |event| self.alone(event));
        }
        let all: Vec<u8> = events.iter().flat_map(|event| &event.body).copied().collect();
        let block = Block { dictionary: self.dictionary, events: events.len(), data: self.form(&all)? };
        let (mut group, mut start) = (Group { block: Some(block), events: Vec::new() }, 0);
        for event in events {
            let length = event.body.len();
            group.events.push(self.pressed(&event, Body::Shared { start, length })?);
            start += length;
        }
        Ok(group)
    }

    /// Compresses an event by itself. The group is empty if the event stays as it is.
    fn alone(&mut self, event: Unpacked) -> io::Result<Group> {
        let body = self.form(&event.body)?;
        let stays = event.body.len() >= LARGE && form::is_plain(&body);
        let events = if stays { Vec::new() } else { vec![self.pressed(&event, Body::Own(body))?] };
        Ok(Group { block: None, events })
    }

    fn pressed(&mut self, event: &Unpacked, body: Body) -> io::Result<Pressed> {
        let headers = self.form(&event.headers)?;
        Ok(Pressed { seq: event.seq, dictionary: self.dictionary, headers, body, before: event.len() })
    }

    fn form(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        Ok(form::form(bytes, &self.compressor.compress(bytes)?))
    }
}
