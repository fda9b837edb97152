//! S3 buckets: their test.

use heddle_connections::records::{OpenConnection, Phase};
use heddle_egress::{Egress, HeaderName, Method, StatusCode, Url};
use heddle_kernel::Timestamp;

use crate::failure::{Failure, needed, needed_secret};
use crate::http::{request, sensitive};
use crate::sigv4::{AccessKey, Unsigned, sign};

/// Asks for the bucket (HeadBucket).
pub(crate) async fn test(
    egress: &Egress,
    connection: &OpenConnection,
    at: Timestamp,
) -> Result<String, Failure> {
    let url = address(connection)?;
    let mut request = request(connection, Method::HEAD, url.as_str())?;
    let key = AccessKey {
        id: needed(connection, "accessKeyId")?,
        secret: needed_secret(connection, "secretAccessKey")?,
        session: connection.secret("sessionToken").map(|token| token.expose()),
    };
    let unsigned = Unsigned {
        method: "HEAD",
        host: &authority(&url),
        path: url.path(),
        query: "",
        region: needed(connection, "region")?,
        at,
    };
    for header in sign(&unsigned, key) {
        request = request.with_header(HeaderName::from_static(header.name), sensitive(&header.value)?);
    }
    let status = egress.open(request).await?.status;
    let code = status.as_u16();
    match status {
        status if status.is_success() => Ok(format!("the bucket is there (status {code})")),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Err(Failure::lasting(Phase::Auth, format!("the service refused the access key (status {code})")))
        }
        StatusCode::NOT_FOUND => {
            Err(Failure::lasting(Phase::Request, format!("there is no such bucket (status {code})")))
        }
        status if status.is_redirection() || status == StatusCode::BAD_REQUEST => {
            let message = format!("the bucket is elsewhere: region or endpoint are wrong (status {code})");
            Err(Failure::lasting(Phase::Request, message))
        }
        status if status.is_server_error() => {
            Err(Failure::passing(Phase::Request, format!("the service failed (status {code})")))
        }
        _ => {
            Err(Failure::lasting(Phase::Request, format!("the service refused the request (status {code})")))
        }
    }
}

/// The bucket's address: in the path, or before the host.
fn address(connection: &OpenConnection) -> Result<Url, Failure> {
    let wrong = || Failure::lasting(Phase::Request, "`config.endpoint` and `config.bucket` make no address");
    let bucket = needed(connection, "bucket")?;
    let mut url = Url::parse(needed(connection, "endpoint")?).map_err(|_illegal| wrong())?;
    if connection.text("addressing") == Some("virtualHost") {
        let host = format!("{bucket}.{}", url.host_str().ok_or_else(wrong)?);
        url.set_host(Some(&host)).map_err(|_illegal| wrong())?;
        url.set_path("/");
    } else {
        url.set_path(&format!("/{bucket}"));
    }
    Ok(url)
}

/// Host and port as the request's header has them.
fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let host = host.strip_suffix('.').unwrap_or(host);
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tester::tests::opened;
    use heddle_connections::ConnectionKind;
    use serde_json::json;

    #[test]
    fn the_bucket_stands_in_the_path_or_before_the_host() {
        for (endpoint, addressing, url, host) in [
            ("http://127.0.0.1:9000", "path", "http://127.0.0.1:9000/b.c", "127.0.0.1:9000"),
            ("https://S3.test:443/", "path", "https://s3.test/b.c", "s3.test"),
            ("https://s3.test", "virtualHost", "https://b.c.s3.test/", "b.c.s3.test"),
        ] {
            let config = json!({ "endpoint": endpoint, "bucket": "b.c", "addressing": addressing });
            let found = address(&opened(ConnectionKind::S3, config, &[])).unwrap();
            assert_eq!((found.as_str(), authority(&found).as_str()), (url, host));
        }
    }
}
