//! The running server.

use std::io;
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use actix_http::error::DispatchError;
use actix_http::{HttpService, Protocol};
use actix_service::{
    IntoServiceFactory as _, ServiceFactory, ServiceFactoryExt as _, fn_service, map_config,
};
use actix_web::App as ActixApp;
use actix_web::dev::{AppConfig, Server as ActixServer, ServerHandle};
use actix_web::rt::net::TcpStream;
use heddle_edge::connection::{Connection, Wire};
use heddle_edge::tls::Certificates;
use heddle_installation::config::Config;
use heddle_installation::error::StartError;
use heddle_installation::socket::SOCKET_FILE;
use tokio::task::JoinHandle;

use crate::app::App;
use crate::composition::Composition;
use crate::failure::Failure;
use crate::http;
use crate::identity::FirstStart;
use crate::local::LocalListener;

/// Seconds that open requests may take to end when the server stops.
const SHUTDOWN_SECONDS: u64 = 3;
/// Most connections beyond the limit that are open while they are refused.
const REFUSED: usize = 64;
/// Most bytes of a request that are heard of a connection without a place.
const MOST_HEARD: u64 = 16 * 1024;
/// Time that a client has to see the end of a connection.
const GOODBYE: Duration = Duration::from_secs(1);

/// A server that takes connections.
pub struct Server {
    core: Composition,
    address: SocketAddr,
    certificates: Option<JoinHandle<()>>,
    handle: ServerHandle,
    local: Option<LocalListener>,
    running: JoinHandle<io::Result<()>>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}

impl Server {
    /// Composes the service and takes connections.
    ///
    /// # Errors
    /// [`StartError`], each with what to do.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        let wanted = config.listen;
        let certificates = Certificates::open(config.tls_cert.as_deref(), config.tls_key.as_deref())?;
        if !wanted.ip().is_loopback() && !config.insecure_http && certificates.is_none() {
            return Err(StartError::Insecure(wanted));
        }
        let refused = |source| StartError::Listen { address: wanted, source };
        // Bound before anything is opened: a taken port ends the start at once.
        let listener = std::net::TcpListener::bind(wanted).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let workers = config.workers;
        // The port that was taken is the one that connections of organisations are kept from.
        let core = Composition::open(Config { listen: address, ..config }).await?;
        core.announce(&format!("{}://{address}", scheme(&core)))?;
        let app = Arc::clone(&core.app);
        let builder = ActixServer::build()
            .workers(workers)
            .disable_signals()
            .shutdown_timeout(SHUTDOWN_SECONDS)
            // One too many is refused, which this lets come in; what waits in the kernel takes no descriptor.
            .max_concurrent_connections(app.edge.limits().connections / workers + REFUSED / workers + 1);
        let draining = builder.graceful_shutdown_signal();
        let accepting = certificates.clone();
        let connections = move || {
            let draining = draining.clone();
            connections(Arc::clone(&app), accepting.clone(), move || {
                let draining = draining.clone();
                async move { draining.notified().await }
            })
        };
        let server = builder.listen("heddle", listener, connections).map_err(refused)?.run();
        let handle = server.handle();
        let local = listen_locally(&core);
        let certificates = certificates.map(|own| own.keep(core.app.stop.clone()));
        Ok(Self { core, address, certificates, handle, local, running: tokio::spawn(server) })
    }

    /// Address that it listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Scheme of its addresses: `https` when it speaks TLS itself, else `http`.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        scheme(&self.core)
    }

    /// Results of the first start.
    #[must_use]
    pub const fn first(&self) -> &FirstStart {
        &self.core.first
    }

    /// The composed service.
    #[must_use]
    pub const fn core(&self) -> &Composition {
        &self.core
    }

    /// Ends it: streams close, open requests finish, what is being written is written.
    pub async fn stop(self) {
        self.core.signal_stop();
        self.handle.stop(true).await;
        if let Some(local) = self.local {
            local.stop().await;
        }
        if let Some(certificates) = self.certificates {
            // It ends with the signal; nothing of it has to be waited for.
            certificates.abort();
        }
        let _ = tokio::time::timeout(Duration::from_secs(SHUTDOWN_SECONDS), self.running).await;
        self.core.stop().await;
    }
}

fn scheme(core: &Composition) -> &'static str {
    if core.app.config.speaks_tls() { "https" } else { "http" }
}

/// Listens on the socket file for commands. A file system without sockets stops no server: commands reach it over HTTP.
fn listen_locally(core: &Composition) -> Option<LocalListener> {
    let path = core.app.config.data_dir.join(SOCKET_FILE);
    LocalListener::start(&core.app, path.clone())
        .inspect_err(|error| {
            tracing::warn!(error = %error, path = %path.display(), "commands reach this server over HTTP alone");
        })
        .ok()
}

/// Service of a worker's connections: each has its place before the first byte is read, and its deadlines below HTTP.
fn connections<F, S>(
    app: Arc<App>,
    certificates: Option<Arc<Certificates>>,
    draining: F,
) -> impl ServiceFactory<TcpStream, Config = (), Response = (), Error = DispatchError, InitError = ()>
where
    F: Fn() -> S + 'static,
    S: Future<Output = ()> + 'static,
{
    let limits = *app.edge.limits();
    let operations = Arc::clone(&app);
    let web = ActixApp::new().configure(move |config| http::configure(config, &operations));
    let web = web.into_factory().map_err(|error: actix_web::Error| error.error_response());
    let service = HttpService::build()
        .graceful_shutdown_signal(draining)
        .keep_alive(limits.keep_alive)
        .client_request_timeout(limits.head)
        .client_disconnect_timeout(GOODBYE)
        .on_connect_ext(|connection: &Connection, data| {
            data.insert(connection.link());
        })
        .finish(map_config(web, |()| AppConfig::default()));
    fn_service(move |stream: TcpStream| {
        let app = Arc::clone(&app);
        let certificates = certificates.clone();
        async move {
            let peer = stream.peer_addr().map_err(DispatchError::Io)?;
            // An answer that takes two writes would wait with the second until the client acknowledges the first, and clients
            // take 40 ms for it.
            stream.set_nodelay(true).map_err(DispatchError::Io)?;
            match app.edge.connect(peer.ip()) {
                Ok(places) => {
                    // The place is held from before the handshake, which has the time of a head.
                    let limits = *app.edge.limits();
                    let wire = wire(stream, certificates.as_deref(), limits.head).await?;
                    let connection = Connection::new(wire, limits, places);
                    Ok((connection, Protocol::Http1, Some(peer)))
                }
                Err(reached) => {
                    let told = match certificates {
                        None => refuse(&app, stream, reached.into()),
                        // Nothing can be told before a handshake, and one costs more than the refusal.
                        Some(_) => stream.set_zero_linger(),
                    };
                    Err(DispatchError::Io(told.err().unwrap_or_else(|| io::ErrorKind::QuotaExceeded.into())))
                }
            }
        }
    })
    .and_then(service)
}

/// Stream of a connection, with its handshake done where TLS is spoken.
async fn wire(
    stream: TcpStream,
    certificates: Option<&Certificates>,
    patience: Duration,
) -> Result<Wire, DispatchError> {
    let Some(certificates) = certificates else { return Ok(Wire::Plain(stream)) };
    let accepted = tokio::time::timeout(patience, certificates.acceptor().accept(stream)).await;
    let late = |_elapsed| io::Error::new(io::ErrorKind::TimedOut, "a handshake did not end in time");
    match accepted.map_err(late).flatten() {
        Ok(stream) => Ok(Wire::Tls(Box::new(stream))),
        Err(error) => {
            tracing::debug!(%error, "a handshake failed");
            Err(DispatchError::Io(error))
        }
    }
}

/// Answer to a connection for which there is no place, as far as it is taken at once: nobody waits for its request.
fn refuse(app: &App, stream: TcpStream, failure: Failure) -> io::Result<()> {
    use std::io::{Read as _, Write as _};

    let mut stream = stream.into_std()?;
    let error = &failure.error;
    let id = app.request_id(None);
    let body = serde_json::to_string(&error.to_body(&id)).map_err(io::Error::other)?;
    let reason = actix_web::http::StatusCode::from_u16(error.status()).ok();
    let reason = reason.and_then(|status| status.canonical_reason()).unwrap_or_default();
    let head = format!(
        "HTTP/1.1 {status} {reason}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\ncache-control: no-store\r\nx-request-id: {id}\r\nretry-after: {retry}\r\n\r\n",
        status = error.status(),
        length = body.len(),
        retry = failure.retry_after.unwrap_or(1),
    );
    stream.write_all((head + &body).as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    // What has come already is read: the kernel would take the answer back for it.
    let _ = io::copy(&mut stream.take(MOST_HEARD), &mut io::sink());
    Ok(())
}
