//! RSA operations that ring lacks: generating keys, and signing with SHA-1.

use crypto_bigint::{
    U1024, U2048,
    modular::{FixedMontyForm, FixedMontyParams},
};
use crypto_primes::{
    Flavor,
    hazmat::{SetBits, SmallFactorsSieveFactory},
    is_prime, sieve_and_find,
};
use ed25519_dalek::pkcs8::PrivateKeyInfoRef;
use pkcs1::{
    ALGORITHM_ID, RsaPrivateKeyRef,
    der::{
        Decode as _, Encode as _,
        asn1::{OctetStringRef, UintRef},
    },
};
use rand::{rand_core::UnwrapErr, rngs::SysRng};
use sha1::{Digest as _, Sha1};

/// The usual public exponent.
const EXPONENT: u32 = 65_537;

/// The bytes before a SHA-1 hash in a signature (RFC 8017, 9.2, note 1).
const SHA1_PREFIX: [u8; 15] =
    [0x30, 0x21, 0x30, 0x09, 0x06, 0x05, 0x2b, 0x0e, 0x03, 0x02, 0x1a, 0x05, 0x00, 0x04, 0x14];

/// Generates a key of 2048 bits as PKCS#8 (RFC 8017, 3.2). ring validates it each time it is read.
pub(crate) fn generate() -> Option<Vec<u8>> {
    let (one, other) = (prime()?, prime()?);
    let (p, q) = if one > other { (one, other) } else { (other, one) };
    let (below_p, below_q) = (p.wrapping_sub(&U1024::ONE), q.wrapping_sub(&U1024::ONE));
    let (modulus, totient): (U2048, U2048) = (p.concatenating_mul(&q), below_p.concatenating_mul(&below_q));
    let exponent = U2048::from(EXPONENT);
    // There is no inverse if the exponent divides `p - 1` or `q - 1`, which almost never happens.
    let private = exponent.invert_mod(&totient.to_nz().into_option()?).into_option()?;
    let inverse = |of: U1024, modulus: U1024| of.invert_mod(&modulus.to_nz().into_option()?).into_option();
    let small =
        [p, q, inverse(EXPONENT.into(), below_p)?, inverse(EXPONENT.into(), below_q)?, inverse(q, p)?];
    let large = [modulus, exponent, private].map(|number| number.to_be_bytes());
    let small = small.map(|number| number.to_be_bytes());
    let number = |bytes| UintRef::new(bytes).ok();
    let key = RsaPrivateKeyRef {
        modulus: number(large[0].as_ref())?,
        public_exponent: number(large[1].as_ref())?,
        private_exponent: number(large[2].as_ref())?,
        prime1: number(small[0].as_ref())?,
        prime2: number(small[1].as_ref())?,
        exponent1: number(small[2].as_ref())?,
        exponent2: number(small[3].as_ref())?,
        coefficient: number(small[4].as_ref())?,
        other_prime_infos: None,
    };
    let der = key.to_der().ok()?;
    PrivateKeyInfoRef::new(ALGORITHM_ID, OctetStringRef::new(&der).ok()?).to_der().ok()
}

/// Generates a prime with its two highest bits set, so that the product of two such primes has exactly 2048 bits.
fn prime() -> Option<U1024> {
    let sieve = SmallFactorsSieveFactory::new(Flavor::Any, U1024::BITS, SetBits::TwoMsb).ok()?;
    let found =
        sieve_and_find(&mut UnwrapErr(SysRng), sieve, |_, candidate| is_prime(Flavor::Any, candidate));
    found.ok()?
}

/// Signs with SHA-1 (RFC 8017, 8.2.1), as SNS does unless the topic is configured otherwise. The exponentiation takes
/// the same time for every key.
pub(crate) fn sign_sha1(der: &[u8], message: &[u8]) -> Option<Vec<u8>> {
    let info = PrivateKeyInfoRef::from_der(der).ok()?;
    let key = RsaPrivateKeyRef::from_der(info.private_key.as_bytes()).ok()?;
    let number = |of: UintRef<'_>| {
        let mut bytes = [0; U2048::BYTES];
        let room = U2048::BYTES.checked_sub(of.as_bytes().len())?;
        bytes[room..].copy_from_slice(of.as_bytes());
        Some(U2048::from_be_slice(&bytes))
    };
    let hash = Sha1::digest(message);
    let mut padded = [0xff; U2048::BYTES];
    let (padding, hashed) = padded.split_at_mut(U2048::BYTES - SHA1_PREFIX.len() - hash.len());
    padding[..2].copy_from_slice(&[0, 1]);
    *padding.last_mut()? = 0;
    hashed[..SHA1_PREFIX.len()].copy_from_slice(&SHA1_PREFIX);
    hashed[SHA1_PREFIX.len()..].copy_from_slice(&hash);
    let params = FixedMontyParams::new(number(key.modulus)?.to_odd().into_option()?);
    let signed =
        FixedMontyForm::new(&U2048::from_be_slice(&padded), &params).pow(&number(key.private_exponent)?);
    Some(signed.retrieve().to_be_bytes().as_ref().to_vec())
}

#[cfg(test)]
mod tests {
    use x509_cert::der::pem::decode_vec;

    use super::*;

    #[test]
    fn a_made_key_is_one_that_ring_takes() {
        for _ in 0..4 {
            let pair = ring::rsa::KeyPair::from_pkcs8(&generate().unwrap()).unwrap();
            assert_eq!(pair.public().modulus_len(), 256);
        }
    }

    /// Made by `printf message | openssl dgst -sha1 -sign keys/rsa.pem | sha256sum`.
    #[test]
    fn a_signature_is_the_one_that_openssl_makes() {
        let (_, der) = decode_vec(include_bytes!("../keys/rsa.pem")).unwrap();
        let signature = sign_sha1(&der, b"message").unwrap();
        let golden = "bde18bf64c917ade72b61a43dabc222c0582a50cafc50991dc21ef4fecbe12f6";
        assert_eq!(hex::encode(sha2::Sha256::digest(signature)), golden);
        assert_eq!(sign_sha1(b"no key", b"message"), None);
    }
}
