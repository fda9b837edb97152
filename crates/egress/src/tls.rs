//! TLS by rustls: certificates are always checked.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{CertificateError, ClientConfig, RootCertStore};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;
use tokio_rustls::TlsConnector;

use crate::connect::{Connected, Deadline, Secured};
use crate::{EgressError, Fault, Host, Phase};

/// Number of configurations that are kept; with more, all are made anew.
const MOST_CONFIGS: usize = 256;
/// Size up to which PEM is read, in bytes.
const LARGEST_PEM: usize = 512 * 1024;

/// Authorities whose certificates pass for everybody.
#[derive(Clone, Debug, Default)]
pub struct Roots {
    system: bool,
    added: Vec<CertificateDer<'static>>,
}

impl Roots {
    /// Those of the system (`SSL_CERT_FILE` and `SSL_CERT_DIR` name others), read when the first is needed.
    #[must_use]
    pub const fn system() -> Self {
        Self { system: true, added: Vec::new() }
    }

    /// None.
    #[must_use]
    pub const fn none() -> Self {
        Self { system: false, added: Vec::new() }
    }

    /// Those and the authorities of a PEM text.
    ///
    /// # Errors
    /// `BadTls` when the text holds no certificate, or a broken one.
    pub fn with_pem(mut self, pem: &str) -> Result<Self, Fault> {
        self.added.extend(authorities(pem)?);
        Ok(self)
    }

    fn store(&self) -> RootCertStore {
        let mut store = RootCertStore::empty();
        if self.system {
            let found = rustls_native_certs::load_native_certs();
            for error in &found.errors {
                tracing::warn!(%error, "authorities of the system can't be read");
            }
            let (_, unreadable) = store.add_parsable_certificates(found.certs);
            if store.is_empty() || unreadable > 0 {
                tracing::warn!(read = store.len(), unreadable, "authorities of the system");
            }
        }
        store.add_parsable_certificates(self.added.iter().cloned());
        store
    }
}

/// Choice of one connection: which authorities pass beside everybody's, and who we are. Two choices of the same content
/// are one. There is none without checks.
#[derive(Clone, Default)]
pub struct TlsChoice {
    own: Option<Arc<Own>>,
}

struct Own {
    authorities: Vec<CertificateDer<'static>>,
    identity: Option<Identity>,
    fingerprint: [u8; 32],
}

struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl fmt::Debug for TlsChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let authorities = self.own.as_ref().map_or(0, |own| own.authorities.len());
        let has_identity = self.own.as_ref().is_some_and(|own| own.identity.is_some());
        f.debug_struct("TlsChoice")
            .field("authorities", &authorities)
            .field("has_identity", &has_identity)
            .finish()
    }
}

impl TlsChoice {
    /// The authorities of a PEM text beside everybody's.
    ///
    /// # Errors
    /// `BadTls` when the text holds no certificate, or a broken one.
    pub fn with_authorities(pem: &str) -> Result<Self, Fault> {
        Self::of(Some(pem), None)
    }

    /// Authorities beside everybody's, and the certificate with its key that we show, all as PEM.
    ///
    /// # Errors
    /// `BadTls` when a text can't be read, or the key is not the certificate's.
    pub fn with_identity(authorities: Option<&str>, certificate: &str, key: &str) -> Result<Self, Fault> {
        Self::of(authorities, Some([certificate, key]))
    }

    fn of(authority: Option<&str>, identity: Option<[&str; 2]>) -> Result<Self, Fault> {
        let mut digest = Sha256::new();
        for part in [authority.unwrap_or_default()].iter().chain(identity.iter().flatten()) {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part.as_bytes());
        }
        let authorities = authority.map(authorities).transpose()?.unwrap_or_default();
        let identity = match identity {
            Some([chain, key]) => Some(Identity {
                chain: certificates(chain, "the certificate")?,
                key: PrivateKeyDer::from_pem_slice(bounded(key)?).map_err(|_reason| {
                    Fault::BadTls(
                        "the key is not a private key as PEM (PKCS #8, PKCS #1 or SEC 1)".to_owned(),
                    )
                })?,
            }),
            None => None,
        };
        let own = Own { authorities, identity, fingerprint: digest.finalize().into() };
        // A key that is not the certificate's is told now, and not at each connection.
        own.config(&RootCertStore::empty())?;
        Ok(Self { own: Some(Arc::new(own)) })
    }

    /// Digest of the choice: connections of different choices are never the same.
    pub(crate) fn fingerprint(&self) -> [u8; 32] {
        self.own.as_ref().map_or([0; 32], |own| own.fingerprint)
    }
}

impl Own {
    fn config(&self, roots: &RootCertStore) -> Result<ClientConfig, Fault> {
        let mut store = roots.clone();
        store.add_parsable_certificates(self.authorities.iter().cloned());
        let builder = builder(store)?;
        match &self.identity {
            None => Ok(builder.with_no_client_auth()),
            Some(identity) => builder
                .with_client_auth_cert(identity.chain.clone(), identity.key.clone_key())
                .map_err(|error| Fault::BadTls(format!("the certificate and its key: {error}"))),
        }
    }
}

fn builder(
    store: RootCertStore,
) -> Result<rustls::ConfigBuilder<ClientConfig, rustls::client::WantsClientCert>, Fault> {
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map(|builder| builder.with_root_certificates(store))
        .map_err(|error| Fault::BadTls(error.to_string()))
}

fn authorities(pem: &str) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let found = certificates(pem, "the authorities")?;
    let mut store = RootCertStore::empty();
    for certificate in &found {
        store
            .add(certificate.clone())
            .map_err(|_reason| Fault::BadTls("a certificate of the authorities can't be read".to_owned()))?;
    }
    Ok(found)
}

fn certificates(pem: &str, what: &str) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(bounded(pem)?).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(Fault::BadTls(format!("{what}: the text holds no certificate as PEM"))),
        Err(_reason) => Err(Fault::BadTls(format!("{what}: the text is not PEM"))),
    }
}

fn bounded(pem: &str) -> Result<&[u8], Fault> {
    if pem.len() > LARGEST_PEM {
        return Err(Fault::BadTls("a text of certificates is larger than 512 KiB".to_owned()));
    }
    Ok(pem.as_bytes())
}

/// Fingerprint of a choice, and whether HTTP is spoken.
type Choice = ([u8; 32], bool);

/// Configurations, by choice and by what is spoken on TLS.
pub(crate) struct Configs {
    roots: Roots,
    store: OnceLock<RootCertStore>,
    made: Mutex<HashMap<Choice, Arc<ClientConfig>>>,
}

impl Configs {
    pub(crate) fn new(roots: Roots) -> Self {
        Self { roots, store: OnceLock::new(), made: Mutex::new(HashMap::new()) }
    }

    /// Reads the authorities, unless they are read.
    pub(crate) fn load(&self) {
        let _ = self.store.get_or_init(|| self.roots.store());
    }

    fn get(&self, choice: &TlsChoice, is_http: bool) -> Result<Arc<ClientConfig>, Fault> {
        let key = (choice.fingerprint(), is_http);
        if let Some(config) = self.made.lock().get(&key) {
            return Ok(Arc::clone(config));
        }
        let store = self.store.get_or_init(|| self.roots.store());
        let mut config = match &choice.own {
            None if store.is_empty() => {
                return Err(Fault::Certificate(
                    "this machine knows no authorities: install the package `ca-certificates`, or name them"
                        .to_owned(),
                ));
            }
            None => builder(store.clone())?.with_no_client_auth(),
            Some(own) => own.config(store)?,
        };
        if is_http {
            config.alpn_protocols = vec![b"http/1.1".to_vec()];
        }
        let config = Arc::new(config);
        let mut made = self.made.lock();
        if made.len() >= MOST_CONFIGS {
            made.clear();
        }
        made.insert(key, Arc::clone(&config));
        Ok(config)
    }

    /// Puts TLS on a connection.
    pub(crate) async fn secure(
        &self,
        connected: Connected,
        choice: &TlsChoice,
        is_http: bool,
        deadline: Deadline,
    ) -> Result<Secured, EgressError> {
        let in_tls = |fault| EgressError::new(Phase::Tls, fault);
        let Connected { stream, host, peer, dns, connect } = connected;
        let began = Instant::now();
        let name = match &host {
            Host::Name(name) => ServerName::try_from(name.clone()).map_err(|_reason| {
                in_tls(Fault::Certificate("no certificate can be for this name".to_owned()))
            })?,
            Host::Address(address) => ServerName::IpAddress((*address).into()),
        };
        let connector = TlsConnector::from(self.get(choice, is_http).map_err(in_tls)?);
        let stream = deadline
            .hold(connector.connect(name, stream))
            .await
            .and_then(|found| found.map_err(|error| described(&error)))
            .map_err(in_tls)?;
        Ok(Secured { stream, host, peer, dns, connect, tls: began.elapsed() })
    }
}

/// Fault of a handshake.
fn described(error: &std::io::Error) -> Fault {
    let Some(found) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) else {
        return Fault::TlsFailed("the connection ended during the handshake".to_owned());
    };
    match found {
        rustls::Error::InvalidCertificate(reason) => Fault::Certificate(certificate_reason(reason)),
        rustls::Error::AlertReceived(alert) => {
            Fault::TlsFailed(format!("the server refused the handshake ({alert:?})"))
        }
        rustls::Error::InvalidMessage(_) => Fault::TlsFailed("the server does not speak TLS".to_owned()),
        rustls::Error::PeerIncompatible(_) => {
            Fault::TlsFailed("the server speaks no version or cipher of TLS that is safe".to_owned())
        }
        other => Fault::TlsFailed(other.to_string()),
    }
}

fn certificate_reason(reason: &CertificateError) -> String {
    match reason {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it is expired".to_owned(),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "it is not valid yet".to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "it is for another name".to_owned()
        }
        CertificateError::UnknownIssuer => "nobody known issued it".to_owned(),
        CertificateError::Revoked => "it was revoked".to_owned(),
        CertificateError::BadEncoding => "it can't be read".to_owned(),
        CertificateError::BadSignature => "its signature is wrong".to_owned(),
        other => {
            let told = format!("{other:?}");
            // What checks chains has no word of its own for it here.
            if told.contains("CaUsedAsEndEntity") {
                return "it is that of an authority (CA:TRUE), which no server may show: give the server one that the \
                        authority issued, or a self-signed one without that mark"
                    .to_owned();
            }
            told
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_no_certificates_are_told() {
        let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        for (pem, reason) in [
            ("", "no certificate"),
            ("-----BEGIN CERTIFICATE-----\n%\n-----END CERTIFICATE-----\n", "not PEM"),
            (broken, "can't be read"),
            (&"x".repeat(LARGEST_PEM + 1), "larger"),
        ] {
            let error = TlsChoice::with_authorities(pem).unwrap_err().to_string();
            assert!(error.contains(reason), "{pem:.30}: {error}");
            assert!(Roots::none().with_pem(pem).is_err());
        }
    }

    #[test]
    fn a_key_that_is_not_the_certificates_is_told_and_none_is_shown() {
        let one = rcgen::generate_simple_self_signed(["a.test".to_owned()]).unwrap();
        let two = rcgen::generate_simple_self_signed(["a.test".to_owned()]).unwrap();
        let choice =
            TlsChoice::with_identity(None, &one.cert.pem(), &one.signing_key.serialize_pem()).unwrap();
        assert_eq!(format!("{choice:?}"), "TlsChoice { authorities: 0, has_identity: true }");
        let error = TlsChoice::with_identity(None, &one.cert.pem(), &two.signing_key.serialize_pem());
        assert!(error.unwrap_err().to_string().contains("key"));
        let error = TlsChoice::with_identity(None, &one.cert.pem(), "secret").unwrap_err().to_string();
        assert!(error.contains("private key") && !error.contains("secret"), "{error}");
    }
}
