//! Signatures of AWS, version 4 (AWS Signature Version 4, "Create a signed AWS API request"), of requests without a body.

use heddle_kernel::Timestamp;
use heddle_usecase::{hex, sha256_hex};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// A request to sign.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unsigned<'a> {
    pub(crate) method: &'a str,
    /// Host as the request's header has it, with a port that is not the scheme's.
    pub(crate) host: &'a str,
    /// Path, percent-encoded.
    pub(crate) path: &'a str,
    /// Query in its canonical form.
    pub(crate) query: &'a str,
    pub(crate) region: &'a str,
    pub(crate) at: Timestamp,
}

/// Key that signs.
#[derive(Clone, Copy)]
pub(crate) struct AccessKey<'a> {
    pub(crate) id: &'a str,
    pub(crate) secret: &'a str,
    pub(crate) session: Option<&'a str>,
}

/// A header by its name and value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) name: &'static str,
    pub(crate) value: String,
}

/// The headers that sign a request to S3; `host` is among what is signed and not among them.
pub(crate) fn sign(request: &Unsigned<'_>, key: AccessKey<'_>) -> Vec<Header> {
    let time = basic(request.at);
    let date = time.get(..8).unwrap_or_default();
    let payload = sha256_hex(b"");
    let mut headers = vec![
        Header { name: "x-amz-content-sha256", value: payload.clone() },
        Header { name: "x-amz-date", value: time.clone() },
    ];
    if let Some(token) = key.session {
        headers.push(Header { name: "x-amz-security-token", value: token.to_owned() });
    }
    // They are in the order of their names, with `host` before them all.
    let mut canonical = format!("host:{}\n", request.host);
    let mut names = "host".to_owned();
    for Header { name, value } in &headers {
        canonical.push_str(&format!("{name}:{}\n", value.trim()));
        names.push_str(&format!(";{name}"));
    }
    let Unsigned { method, path, query, region, .. } = request;
    let asked = format!("{method}\n{path}\n{query}\n{canonical}\n{names}\n{payload}");
    let scope = format!("{date}/{region}/s3/aws4_request");
    let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", sha256_hex(asked.as_bytes()));
    let mut signing = format!("AWS4{}", key.secret).into_bytes();
    for part in [date, region, "s3", "aws4_request"] {
        signing = mac(&signing, part.as_bytes());
    }
    let signature = hex(&mac(&signing, text.as_bytes()));
    let value = format!(
        "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}",
        key.id
    );
    headers.push(Header { name: "authorization", value });
    headers
}

fn mac(key: &[u8], text: &[u8]) -> Vec<u8> {
    // HMAC takes a key of any length.
    Hmac::<Sha256>::new_from_slice(key).map_or_else(
        |_| Vec::new(),
        |mut mac| {
            mac.update(text);
            mac.finalize().into_bytes().to_vec()
        },
    )
}

/// An instant in the basic form: `20130524T000000Z`.
fn basic(at: Timestamp) -> String {
    let text = at.to_string();
    let seconds = text.get(..19).unwrap_or(&text);
    let plain: String = seconds.chars().filter(|letter| !matches!(letter, '-' | ':')).collect();
    format!("{plain}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_signed_as_the_specification_has_it() {
        // The example of the S3 API's reference: "GET Bucket Lifecycle".
        let request = Unsigned {
            method: "GET",
            host: "examplebucket.s3.amazonaws.com",
            path: "/",
            query: "lifecycle=",
            region: "us-east-1",
            at: "2013-05-24T00:00:00Z".parse().unwrap(),
        };
        let key = AccessKey {
            id: "AKIAIOSFODNN7EXAMPLE",
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            session: None,
        };
        let headers = sign(&request, key);
        let authorization = &headers.last().unwrap().value;
        assert!(
            authorization.ends_with(
                "SignedHeaders=host;x-amz-content-sha256;x-amz-date, \
                 Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
            ),
            "{authorization}"
        );
        assert_eq!(headers[1].value, "20130524T000000Z");
        let with_token = sign(&request, AccessKey { session: Some("t"), ..key });
        assert!(with_token.last().unwrap().value.contains("x-amz-date;x-amz-security-token,"));
    }
}
