//! Buckets, reached through the one way out.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use heddle_egress::{
    Egress, EgressError, Fault, HeaderName, HeaderValue, Limits, OutBody, OutRequest, header,
};
use http_body::{Body, Frame};
use http_body_util::BodyExt as _;
use object_store::ClientOptions;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService,
};
use tokio::sync::mpsc;

/// Time that one request to a bucket may take, with its body.
const PATIENCE: Duration = Duration::from_secs(600);
/// Pieces of an answer that wait to be read.
const PIECES: usize = 4;
/// Scope of the connections to the bucket: no connection of an organisation shares one.
const SCOPE: &str = "blobs";

/// Headers that the way out sets itself.
const OF_THE_CONNECTION: [HeaderName; 5] =
    [header::HOST, header::CONTENT_LENGTH, header::CONNECTION, header::TRANSFER_ENCODING, header::EXPECT];

/// Settings of a bucket.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct S3Settings {
    /// Endpoint: `https://s3.eu-central-1.amazonaws.com`, or that of another service.
    pub endpoint: String,
    /// Region by which requests are signed.
    pub region: String,
    /// Bucket; it must be there.
    pub bucket: String,
    /// Folder within the bucket; empty for none.
    pub prefix: String,
    /// Id of the access key.
    pub access_key_id: String,
    /// Secret of the access key.
    pub secret_access_key: String,
    /// Whether the bucket stands before the host rather than in the path.
    pub virtual_host: bool,
}

impl fmt::Debug for S3Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Settings")
            .field("endpoint", &self.endpoint)
            .field("bucket", &self.bucket)
            .finish_non_exhaustive()
    }
}

/// The bucket.
///
/// # Errors
/// When the settings make no address.
pub(crate) fn bucket(settings: &S3Settings, egress: Egress) -> object_store::Result<AmazonS3> {
    let endpoint = settings.endpoint.trim_end_matches('/');
    let endpoint = match (settings.virtual_host, endpoint.split_once("://")) {
        (true, Some((scheme, host))) => format!("{scheme}://{}.{host}", settings.bucket),
        (true, None) | (false, _) => endpoint.to_owned(),
    };
    AmazonS3Builder::new()
        .with_endpoint(endpoint)
        .with_region(&settings.region)
        .with_bucket_name(&settings.bucket)
        .with_access_key_id(&settings.access_key_id)
        .with_secret_access_key(&settings.secret_access_key)
        .with_virtual_hosted_style_request(settings.virtual_host)
        // Which addresses may be reached, and how, is decided on the way out.
        .with_allow_http(true)
        .with_http_connector(Way(egress))
        .build()
}

/// The way out, as requests to buckets take it.
#[derive(Clone)]
struct Way(Egress);

impl fmt::Debug for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Way")
    }
}

impl HttpConnector for Way {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for Way {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let mut out = OutRequest::new(head.method, &head.uri.to_string()).map_err(failed)?;
        for (name, value) in &head.headers {
            if !OF_THE_CONNECTION.contains(name) {
                out = out.with_header(name.clone(), value.clone());
            }
        }
        // The bytes are wanted as they were kept, with their length.
        if !head.headers.contains_key(header::ACCEPT_ENCODING) {
            out = out.with_header(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        let limits =
            Limits { total: PATIENCE, body_bytes: u64::MAX, unpacked_bytes: u64::MAX, ..Limits::default() };
        let out = out.with_body(body).with_limits(limits).with_scope(SCOPE);
        let answer = self.0.open(out).await.map_err(failed)?;
        let mut response = http::Response::new(HttpResponseBody::new(Pieces::of(answer.body)));
        *response.status_mut() = answer.status;
        *response.headers_mut() = answer.headers;
        Ok(response)
    }
}

fn failed(error: EgressError) -> HttpError {
    let kind = match &error.fault {
        Fault::Unreachable(_) | Fault::Unresolved { .. } => HttpErrorKind::Connect,
        Fault::TimedOut(_) => HttpErrorKind::Timeout,
        Fault::Broken => HttpErrorKind::Interrupted,
        Fault::BadUrl(_)
        | Fault::BadHost
        | Fault::BadHeader(_)
        | Fault::Denied { .. }
        | Fault::Certificate(_)
        | Fault::TlsFailed(_)
        | Fault::BadTls(_)
        | Fault::NotHttp(_)
        | Fault::HeadersTooLarge
        | Fault::BodyTooLarge(_)
        | Fault::UnpackedTooLarge(_)
        | Fault::BadEncoding(_) => HttpErrorKind::Unknown,
    };
    HttpError::new(kind, error)
}

/// Pieces of an answer.
struct Pieces(mpsc::Receiver<Result<Bytes, HttpError>>);

impl Pieces {
    fn of(mut body: OutBody) -> Self {
        let (sender, pieces) = mpsc::channel(PIECES);
        tokio::spawn(async move {
            loop {
                let piece = match body.chunk().await {
                    Ok(None) => return,
                    Ok(Some(bytes)) => Ok(bytes),
                    Err(error) => Err(failed(error)),
                };
                // Whoever read has enough.
                if sender.send(piece).await.is_err() {
                    return;
                }
            }
        });
        Self(pieces)
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}
