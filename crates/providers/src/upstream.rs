//! One exchange with a provider.

use std::collections::HashMap;
use std::sync::LazyLock;

use async_trait::async_trait;
use futures::stream;
use heddle_egress::{
    Egress, HeaderName, HeaderValue, Limits, Method, OutBody, OutRequest, OutStream, TlsChoice, header,
};
use heddle_models::ports::{Body, Exchange, Fault, Reply, Upstream};
use heddle_models::records::OpenModelConnection;
use heddle_models_wire::{KeyHeader, UpstreamRequest};
use heddle_usecase::outside::Phase;
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};

use crate::fault::{of_egress, unusable};

/// The way to providers, over the one way out. A clone is the same way.
#[derive(Debug, Clone)]
pub struct Providers {
    egress: Egress,
}

impl Providers {
    /// The way to providers over a way out.
    #[must_use]
    pub const fn new(egress: Egress) -> Self {
        Self { egress }
    }

    /// Sends a request below an address with the connection's headers and its key, and gives the answer's head.
    async fn send(
        &self,
        connection: &OpenModelConnection,
        base: &str,
        request: UpstreamRequest,
        bounds: Exchange,
    ) -> Result<OutStream, Fault> {
        let method = match request.method {
            heddle_models_wire::Method::Get => Method::GET,
            heddle_models_wire::Method::Post => Method::POST,
        };
        let url = format!("{}{}", base.trim_end_matches('/'), request.path);
        let mut out = OutRequest::new(method, &url).map_err(|error| of_egress(&error))?;
        for header in &request.headers {
            let name = HeaderName::from_static(header.name);
            out = out.with_header(name, HeaderValue::from_static(header.value));
        }
        for (name, value) in &connection.connection.settings.headers {
            out = out.with_header(own_name(name)?, own_value(name, value)?);
        }
        if let Some((name, value)) = key_of(connection)? {
            out = out.with_header(name, value);
        }
        // Packed pieces of a stream would wait for each other.
        out = out.with_header(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let limits = Limits {
            connect: bounds.connect,
            first_byte: bounds.answer,
            idle: bounds.between,
            total: bounds.total,
            body_bytes: bounds.body_bytes,
            unpacked_bytes: bounds.body_bytes,
        };
        let scope = connection.connection.id.to_string();
        let out = out
            .with_body(request.body)
            .with_limits(limits)
            .with_tls(tls_choice(connection)?)
            .with_scope(scope);
        let egress = self.egress.on_behalf_of(&connection.connection.tenant.to_string());
        egress.open(out).await.map_err(|error| of_egress(&error))
    }
}

#[async_trait]
impl Upstream for Providers {
    async fn exchange(
        &self,
        connection: &OpenModelConnection,
        base: &str,
        request: UpstreamRequest,
        bounds: Exchange,
    ) -> Result<Reply, Fault> {
        let OutStream { status, headers, body, .. } = self.send(connection, base, request, bounds).await?;
        let texts = headers
            .iter()
            .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())));
        Ok(Reply { status: status.as_u16(), headers: texts.collect(), body: pieces(body) })
    }
}

/// The body piece by piece. After a fault there is nothing more; dropped before its end it closes the connection.
fn pieces(body: OutBody) -> Body {
    Box::pin(stream::unfold(body, |mut body| async move {
        match body.chunk().await {
            Ok(Some(piece)) => Some((Ok(piece), body)),
            Ok(None) => None,
            Err(error) => Some((Err(of_egress(&error)), body)),
        }
    }))
}

fn own_name(name: &str) -> Result<HeaderName, Fault> {
    let wrong = |_illegal| unusable(Phase::Request, format!("`headers.{name}` is no header's name"));
    HeaderName::from_bytes(name.as_bytes()).map_err(wrong)
}

fn own_value(name: &str, value: &str) -> Result<HeaderValue, Fault> {
    let wrong = |_illegal| {
        unusable(Phase::Request, format!("`headers.{name}` has characters that no header can carry"))
    };
    HeaderValue::from_bytes(value.as_bytes()).map_err(wrong)
}

/// The key in the header of the provider's family; none where there is no key.
fn key_of(connection: &OpenModelConnection) -> Result<Option<(HeaderName, HeaderValue)>, Fault> {
    let family = connection.connection.kind.provider().family;
    let (Some(family), Some(key)) = (family, &connection.api_key) else { return Ok(None) };
    let KeyHeader { name, scheme } = family.key_header();
    let text = match scheme {
        Some(scheme) => format!("{scheme} {}", key.expose()),
        None => key.expose().to_owned(),
    };
    let wrong = |_illegal| unusable(Phase::Auth, "the key has characters that no header can carry");
    let mut value = HeaderValue::from_bytes(text.as_bytes()).map_err(wrong)?;
    value.set_sensitive(true);
    Ok(Some((HeaderName::from_static(name), value)))
}

/// Number of choices that are kept; with more, all are made anew.
const MOST_CHOICES: usize = 256;

/// Choices of TLS by the digest of their authorities: reading certificates costs more than a call does.
static CHOICES: LazyLock<Mutex<HashMap<[u8; 32], TlsChoice>>> = LazyLock::new(Mutex::default);

fn tls_choice(connection: &OpenModelConnection) -> Result<TlsChoice, Fault> {
    let Some(pem) = &connection.connection.settings.certificate_authority else {
        return Ok(TlsChoice::default());
    };
    let digest: [u8; 32] = Sha256::digest(pem.as_bytes()).into();
    if let Some(kept) = CHOICES.lock().get(&digest) {
        return Ok(kept.clone());
    }
    let wrong = |fault: heddle_egress::Fault| unusable(Phase::Tls, fault.to_string());
    let made = TlsChoice::with_authorities(pem).map_err(wrong)?;
    let mut kept = CHOICES.lock();
    if kept.len() >= MOST_CHOICES {
        kept.clear();
    }
    kept.insert(digest, made.clone());
    Ok(made)
}
