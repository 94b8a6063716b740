//! Signatures by the keys that certificates are for.

use rcgen::KeyPair;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair, UnparsedPublicKey,
    VerificationAlgorithm,
};
use x509_parser::prelude::FromDer;
use x509_parser::x509::SubjectPublicKeyInfo;

/// The bytes of a signature; both kinds of keys have as many.
pub(super) const SIGNATURE: usize = 64;

/// The private key of a node. Keys of other kinds, such as RSA, have longer signatures.
pub(super) enum SigningKey {
    /// On the curve P-256, as `fabnet pki` makes them.
    P256(EcdsaKeyPair),
    /// On the curve Ed25519, as authorities of others may have them.
    Ed25519(Ed25519KeyPair),
}

/// A public key, by which signatures are checked.
pub(super) struct VerifyingKey {
    algorithm: &'static dyn VerificationAlgorithm,
    point: Vec<u8>,
}

impl SigningKey {
    /// Reads a private key in PEM form; none if it is damaged or of another kind.
    pub(super) fn read(pem: &[u8]) -> Option<Self> {
        let der = KeyPair::from_pem(std::str::from_utf8(pem).ok()?).ok()?.serialize_der();
        let p256 = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &der, &SystemRandom::new());
        let ed25519 = || Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der);
        p256.map(Self::P256).or_else(|_| ed25519().map(Self::Ed25519)).ok()
    }

    /// Signs some bytes; none if the system has no random numbers, which the curve P-256 needs.
    pub(super) fn sign(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::P256(key) => key.sign(&SystemRandom::new(), bytes).ok().map(|signature| signature.as_ref().to_vec()),
            Self::Ed25519(key) => Some(key.sign(bytes).as_ref().to_vec()),
        }
    }
}

impl VerifyingKey {
    /// Reads the field `SubjectPublicKeyInfo` of a certificate; none if the key is of another kind.
    pub(super) fn read(public_key: &[u8]) -> Option<Self> {
        let (_, info) = SubjectPublicKeyInfo::from_der(public_key).ok()?;
        let algorithm: &'static dyn VerificationAlgorithm = match info.algorithm.algorithm.to_id_string().as_str() {
            "1.2.840.10045.2.1" => &ECDSA_P256_SHA256_FIXED,
            "1.3.101.112" => &ED25519,
            _ => return None,
        };
        Some(Self { algorithm, point: info.subject_public_key.data.to_vec() })
    }

    /// Whether the owner of the key has signed these bytes.
    pub(super) fn verifies(&self, bytes: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(self.algorithm, &self.point).verify(bytes, signature).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{PKCS_ECDSA_P384_SHA384, PKCS_ED25519, PublicKeyData, SignatureAlgorithm};

    use super::*;

    fn pair(algorithm: &'static SignatureAlgorithm) -> (Option<SigningKey>, Option<VerifyingKey>) {
        let key = KeyPair::generate_for(algorithm).unwrap();
        (SigningKey::read(key.serialize_pem().as_bytes()), VerifyingKey::read(&key.subject_public_key_info()))
    }

    #[test]
    fn what_the_owner_of_a_key_signs_is_checked_by_its_public_half() {
        for algorithm in [&rcgen::PKCS_ECDSA_P256_SHA256, &PKCS_ED25519] {
            let ((own, public), (_, other)) = (pair(algorithm), pair(algorithm));
            let signature = own.unwrap().sign(b"so be it").unwrap();
            assert_eq!(signature.len(), SIGNATURE);
            let public = public.unwrap();
            assert!(public.verifies(b"so be it", &signature));
            assert!(!public.verifies(b"so be IT", &signature));
            assert!(!other.unwrap().verifies(b"so be it", &signature));
            for byte in 0..SIGNATURE {
                let mut altered = signature.clone();
                altered[byte] ^= 1;
                assert!(!public.verifies(b"so be it", &altered), "byte {byte}");
            }
        }
    }

    #[test]
    fn keys_of_other_kinds_are_not_used() {
        let (own, public) = pair(&PKCS_ECDSA_P384_SHA384);
        assert!(own.is_none());
        assert!(public.is_none_or(|public| !public.verifies(b"", &[0; SIGNATURE])));
        assert!(SigningKey::read(b"no key").is_none() && VerifyingKey::read(b"no key").is_none());
    }
}
