//! The licence file as an installation reads it: signed by the vendor, or by itself for its trial.

use heddle_licence::{FileError, INSTALLATION_KEY_ID, SigningKey};
use heddle_policy::licence::{Claims, Signer};

use super::keys::vendor_key;
use crate::UseCaseError;
use crate::key::InstallationKey;

/// Reads a licence file, with or without armour, and checks its signature. Nothing else of it is checked.
pub(crate) fn read(text: &str, key: &InstallationKey) -> Result<(Claims, Signer), FileError> {
    let signed = heddle_licence::read(text, |key_id| match key_id {
        INSTALLATION_KEY_ID => key.verifying().ok(),
        vendor => vendor_key(vendor),
    })?;
    let signer = if signed.key_id == INSTALLATION_KEY_ID { Signer::Installation } else { Signer::Vendor };
    Ok((signed.claims, signer))
}

/// Signs claims.
pub(crate) fn sign(claims: &Claims, key_id: &str, key: &SigningKey) -> Result<String, UseCaseError> {
    heddle_licence::sign(claims, key_id, key).map_err(|error| UseCaseError::Internal(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::licence::testing;

    fn key() -> InstallationKey {
        InstallationKey::new([7; 32]).unwrap()
    }

    #[test]
    fn a_key_of_another_kind_or_name_does_not_count() {
        let claims = testing::claims("2026-01-01T00:00:00Z".parse().unwrap());
        assert_eq!(read(&testing::issue(&claims), &key()), Ok((claims.clone(), Signer::Vendor)));
        let own = sign(&claims, INSTALLATION_KEY_ID, &key().signing().unwrap()).unwrap();
        assert_eq!(read(&own, &key()).unwrap().1, Signer::Installation);
        assert_eq!(read(&own, &InstallationKey::new([8; 32]).unwrap()), Err(FileError::Signature));
        let posing = sign(&claims, testing::KEY_ID, &key().signing().unwrap()).unwrap();
        assert_eq!(read(&posing, &key()), Err(FileError::Signature));
        let unknown = sign(&claims, "nobody", &key().signing().unwrap()).unwrap();
        assert_eq!(read(&unknown, &key()), Err(FileError::UnknownKey("nobody".to_owned())));
    }
}
