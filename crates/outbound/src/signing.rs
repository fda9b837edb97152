//! Signatures of Standard Webhooks (specification 1.0.0, "Verifying webhook authenticity").

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// The headers of a signed message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// `webhook-id`: the same for every try of the message.
    pub id: String,
    /// `webhook-timestamp`: seconds since 1970-01-01T00:00:00Z of this try.
    pub timestamp: String,
    /// `webhook-signature`: one signature for each key, separated by spaces.
    pub signature: String,
}

/// Signs a message with each of the keys: while receivers change from one key to the next there are two. The signed text
/// is `id.timestamp.body`.
#[must_use]
pub fn sign<'a>(id: &str, seconds: i64, body: &[u8], keys: impl IntoIterator<Item = &'a [u8]>) -> Signed {
    let timestamp = seconds.to_string();
    let one = |key: &[u8]| {
        // HMAC takes a key of any length.
        let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
        for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
            mac.update(part);
        }
        Some(format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())))
    };
    let signatures: Vec<String> = keys.into_iter().filter_map(one).collect();
    Signed { id: id.to_owned(), signature: signatures.join(" "), timestamp }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_connections::types::signing_key;

    #[test]
    fn a_message_is_signed_as_the_specification_has_it() {
        // The example of the reference implementations.
        let key = signing_key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        let body: &[u8] = br#"{"test": 2432232314}"#;
        let other_body: &[u8] = b"{}";
        let one = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        let signed = sign(id, 1_614_265_330, body, [key.as_slice()]);
        assert_eq!(signed.signature, one);
        assert_eq!((signed.id.as_str(), signed.timestamp.as_str()), (id, "1614265330"));
        let other = [7; 24];
        let both = sign(id, 1_614_265_330, body, [other.as_slice(), key.as_slice()]).signature;
        assert_eq!(both.split(' ').nth(1), Some(one));
        for (id, seconds, body) in
            [("msg_x", 1_614_265_330, body), (id, 1_614_265_331, body), (id, 1_614_265_330, other_body)]
        {
            assert_ne!(sign(id, seconds, body, [key.as_slice()]).signature, one);
        }
    }
}
