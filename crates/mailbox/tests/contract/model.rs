//! A long sequence of random operations on two mailboxes, compared with a simple model of a mailbox.

use std::collections::BTreeMap;

use hookmitt_mailbox::{DeviceKey, MOST_DEVICES, MOST_TUNNELS, Mailbox, Quota};
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};

use super::{A_MINUTE, Maker, NOW, drain, holds, new_device, new_tunnel, parcel};

const STEPS: usize = 250;
const TUNNELS: [&str; 2] = ["one", "two"];

/// The model of a mailbox.
#[derive(Default)]
struct Model {
    /// The numbers of all letters ever put, by position.
    letters: BTreeMap<u64, u32>,
    /// The devices' cursors.
    devices: BTreeMap<DeviceKey, u64>,
}

impl Model {
    fn newest(&self) -> u64 {
        self.letters.last_key_value().map_or(0, |(&position, _)| position)
    }

    /// Returns the numbers of the letters that wait after a position.
    fn waiting(&self, after: u64) -> Vec<u32> {
        self.letters.range(after + 1..).map(|(_, &number)| number).collect()
    }

    /// Returns how many letters some device lacks.
    fn kept(&self) -> usize {
        let slowest = self.devices.values().min();
        slowest.map_or(0, |&slowest| self.waiting(slowest).len())
    }

    fn some_device(&self, random: &mut SmallRng) -> (DeviceKey, u64) {
        let place = random.random_range(0..self.devices.len());
        self.devices.iter().nth(place).map(|(&key, &cursor)| (key, cursor)).unwrap()
    }
}

fn size(number: u32) -> usize {
    usize::try_from(number % 13 * 40).unwrap()
}

pub(crate) async fn a_long_random_life_goes_as_a_model_says(maker: &impl Maker) {
    let mut random = SmallRng::seed_from_u64(5);
    let mut store = maker.open().await;
    store.add_token("tk", [9; 32], None, MOST_TUNNELS).await.unwrap();
    let mut models: [Model; 2] = Default::default();
    for (name, model) in TUNNELS.iter().zip(&mut models) {
        store.open_tunnel(new_tunnel(name, [0; 32])).await.unwrap();
        model.devices.insert([0; 32], 0);
    }
    for step in 0..STEPS {
        let which = random.random_range(0..2);
        if random.random_ratio(1, 40) {
            store.close().await;
            store = maker.open().await;
        }
        live(&store, TUNNELS[which], &mut models[which], step, &mut random).await;
        agree(&store, TUNNELS[which], &models[which], &mut random).await;
    }
    let kept: usize = models.iter().map(Model::kept).sum();
    holds(&store, u64::try_from(kept).unwrap()).await;
    assert!(models.iter().all(|model| model.letters.len() > 30), "too little happened");
}

/// Performs one random operation on the store and on the model.
async fn live(store: &impl Mailbox, tunnel: &str, model: &mut Model, step: usize, random: &mut SmallRng) {
    let (device, cursor) = model.some_device(random);
    match random.random_range(0..100) {
        0..60 => {
            let number = u32::try_from(step).unwrap();
            let letter = parcel(number, size(number));
            let position = store.put(tunnel, letter, &Quota::default()).await.unwrap();
            assert!(position > model.newest());
            model.letters.insert(position, number);
        }
        60..90 => {
            let through = random.random_range(0..=model.newest() + 3);
            store.ack(tunnel, &device, through).await.unwrap();
            model.devices.insert(device, cursor.max(through.min(model.newest())));
        }
        90..95 => {
            let key = [u8::try_from(step % 250).unwrap() + 1; 32];
            store.add_invite(tunnel, key, A_MINUTE).await.unwrap();
            store.join(tunnel, key, new_device(key), MOST_DEVICES).await.unwrap();
            model.devices.entry(key).or_insert(model.letters.last_key_value().map_or(0, |(&last, _)| last));
        }
        _ if model.devices.len() > 1 => {
            store.leave(tunnel, &device).await.unwrap();
            model.devices.remove(&device);
        }
        _ => {}
    }
}

/// Checks that store and model agree about a random device.
async fn agree(store: &impl Mailbox, tunnel: &str, model: &Model, random: &mut SmallRng) {
    let (device, cursor) = model.some_device(random);
    let waiting = model.waiting(cursor);
    let (depth, newest) = store.depth(tunnel, &device).await.unwrap();
    let bytes: usize = waiting.iter().map(|&number| size(number)).sum();
    let oldest = waiting.first().map(|&number| NOW + i64::from(number));
    assert_eq!((depth.letters, depth.bytes), (waiting.len() as u64, bytes as u64));
    assert_eq!((depth.oldest, newest), (oldest, model.newest()));
    let drained = drain(store, tunnel, cursor, waiting.len()).await;
    assert_eq!(drained.iter().map(|(_, letter)| letter.number).collect::<Vec<_>>(), waiting);
    let devices = store.devices(tunnel).await.unwrap();
    let cursors: BTreeMap<_, _> = devices.into_iter().map(|device| (device.key, device.cursor)).collect();
    assert_eq!(cursors, model.devices);
}
