//! An epoch: a key exported from an HPKE context, with which letters are sealed and opened.

use hpke::{
    Deserializable as _, OpModeR, OpModeS, Serializable as _, aead::ExportOnlyAead, kdf::HkdfSha256,
    kem::X25519HkdfSha256, setup_receiver, setup_sender,
};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use zeroize::Zeroizing;

use crate::SealError;

pub(crate) type Kem = X25519HkdfSha256;

/// Binds a context to this use. HPKE's `info` is this text followed by the tunnel's name.
const INFO: &[u8] = b"hookmitt letter v1\0";

/// The exporter context, which says what the exported key is for.
const EXPORT: &[u8] = b"chacha20-poly1305";

/// An epoch that can seal and open letters.
pub(crate) struct Epoch {
    /// HPKE's encapsulated key, which is the epoch's name.
    pub(crate) name: [u8; 32],
    /// Overwritten when dropped. A `ring` key isn't, so one is made from this for each letter.
    key: Zeroizing<[u8; 32]>,
}

impl Epoch {
    /// Begins an epoch for sealing letters, in the relay.
    pub(crate) fn begin(public: &[u8; 32], tunnel: &str) -> Result<Self, SealError> {
        Self::begin_for(public, &info(INFO, tunnel))
    }

    /// Begins an epoch for another use.
    pub(crate) fn begin_for(public: &[u8; 32], info: &[u8]) -> Result<Self, SealError> {
        let public = <Kem as hpke::Kem>::PublicKey::from_bytes(public).map_err(|_| SealError::Key)?;
        let (encapsulated, context) =
            setup_sender::<ExportOnlyAead, HkdfSha256, Kem>(&OpModeS::Base, &public, info)
                .map_err(|_| SealError::Key)?;
        let mut key = Zeroizing::new([0; 32]);
        context.export(EXPORT, &mut *key).map_err(|_| SealError::Unsealable)?;
        Ok(Self { name: encapsulated.to_bytes().into(), key })
    }

    /// Restores the epoch of that name, in the app.
    pub(crate) fn resume(secret: &[u8; 32], tunnel: &str, name: &[u8; 32]) -> Result<Self, SealError> {
        Self::resume_for(secret, &info(INFO, tunnel), name)
    }

    /// Restores the epoch of that name for another use.
    pub(crate) fn resume_for(secret: &[u8; 32], info: &[u8], name: &[u8; 32]) -> Result<Self, SealError> {
        Ok(Self { name: *name, key: exported(secret, name, info, EXPORT)? })
    }

    pub(crate) fn seal(&self, tunnel: &str, number: u32, plain: &[u8]) -> Result<Vec<u8>, SealError> {
        let mut data = Vec::with_capacity(plain.len() + CHACHA20_POLY1305.tag_len());
        data.extend_from_slice(plain);
        let bound = Aad::from(self.bound(tunnel, number));
        cipher(&self.key)?
            .seal_in_place_append_tag(nonce(number), bound, &mut data)
            .map_err(|_| SealError::Unsealable)?;
        Ok(data)
    }

    pub(crate) fn open(&self, tunnel: &str, number: u32, sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        let mut data = sealed.to_vec();
        let bound = Aad::from(self.bound(tunnel, number));
        let opened =
            cipher(&self.key)?.open_in_place(nonce(number), bound, &mut data).map(|plain| plain.len());
        let plain = opened.map_err(|_| SealError::Foreign)?;
        data.truncate(plain);
        Ok(data)
    }

    /// Returns the data that is authenticated with a letter. It is unambiguous, because a tunnel's name contains no
    /// zero byte and everything after the zero has a fixed length.
    fn bound(&self, tunnel: &str, number: u32) -> Vec<u8> {
        [tunnel.as_bytes(), &[0], &self.name, &number.to_be_bytes()].concat()
    }
}

/// Exports a key from the receiver's HPKE context.
fn exported(
    secret: &[u8; 32],
    encapsulated: &[u8; 32],
    info: &[u8],
    purpose: &[u8],
) -> Result<Zeroizing<[u8; 32]>, SealError> {
    let secret = <Kem as hpke::Kem>::PrivateKey::from_bytes(secret).map_err(|_| SealError::Key)?;
    let encapsulated =
        <Kem as hpke::Kem>::EncappedKey::from_bytes(encapsulated).map_err(|_| SealError::Foreign)?;
    let context =
        setup_receiver::<ExportOnlyAead, HkdfSha256, Kem>(&OpModeR::Base, &secret, &encapsulated, info)
            .map_err(|_| SealError::Foreign)?;
    let mut key = Zeroizing::new([0; 32]);
    context.export(purpose, &mut *key).map_err(|_| SealError::Foreign)?;
    Ok(key)
}

/// Returns the text that binds a context to its use and its tunnel.
pub(crate) fn info(purpose: &[u8], tunnel: &str) -> Vec<u8> {
    [purpose, tunnel.as_bytes()].concat()
}

fn cipher(key: &[u8; 32]) -> Result<LessSafeKey, SealError> {
    UnboundKey::new(&CHACHA20_POLY1305, key).map(LessSafeKey::new).map_err(|_| SealError::Unsealable)
}

/// Writes the number in big-endian order into the last 4 of the nonce's 12 bytes. No number is used twice in an epoch.
fn nonce(number: u32) -> Nonce {
    let mut bytes = [0; 12];
    bytes[8..].copy_from_slice(&number.to_be_bytes());
    Nonce::assume_unique_for_key(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9180, A.7.1: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, export only, base mode.
    #[test]
    fn keys_are_exported_as_rfc_9180_has_them() {
        let bytes = |text: &str| -> [u8; 32] { hex::decode(text).unwrap().try_into().unwrap() };
        let secret = bytes("33d196c830a12f9ac65d6e565a590d80f04ee9b19c83c87f2c170d972a812848");
        let encapsulated = bytes("e5e8f9bfff6c2f29791fc351d2c25ce1299aa5eaca78a757c0b4fb4bcd830918");
        for (purpose, key) in [
            (&b""[..], "7a36221bd56d50fb51ee65edfd98d06a23c4dc87085aa5866cb7087244bd2a36"),
            (b"\0", "d5535b87099c6c3ce80dc112a2671c6ec8e811a2f284f948cec6dd1708ee33f0"),
            (b"TestContext", "ffaabc85a776136ca0c378e5d084c9140ab552b78f039d2e8775f26efff4c70e"),
        ] {
            let found = exported(&secret, &encapsulated, b"Ode on a Grecian Urn", purpose).unwrap();
            assert_eq!(hex::encode(*found), key);
        }
    }
}
