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

use crate::app::App;
use crate::composition::Composition;
use crate::config::Config;
use crate::edge::connection::Connection;
use crate::error::StartError;
use crate::failure::Failure;
use crate::http;
use crate::identity::FirstStart;
use crate::local::{LocalListener, SOCKET_FILE};

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
    handle: ServerHandle,
    local: Option<LocalListener>,
    running: tokio::task::JoinHandle<io::Result<()>>,
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
        if !wanted.ip().is_loopback() && !config.insecure_http {
            return Err(StartError::Insecure(wanted));
        }
        let refused = |source| StartError::Listen { address: wanted, source };
        // Bound before anything is opened: a taken port ends the start at once.
        let listener = std::net::TcpListener::bind(wanted).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let workers = config.workers;
        let core = Composition::open(config).await?;
        core.announce(&format!("http://{address}"))?;
        let app = Arc::clone(&core.app);
        let builder = ActixServer::build()
            .workers(workers)
            .disable_signals()
            .shutdown_timeout(SHUTDOWN_SECONDS)
            // One too many is refused, which this lets come in; what waits in the kernel takes no descriptor.
            .max_concurrent_connections(app.edge.limits().connections / workers + REFUSED / workers + 1);
        let draining = builder.graceful_shutdown_signal();
        let connections = move || {
            let draining = draining.clone();
            connections(Arc::clone(&app), move || {
                let draining = draining.clone();
                async move { draining.notified().await }
            })
        };
        let server = builder.listen("heddle", listener, connections).map_err(refused)?.run();
        let handle = server.handle();
        let local = listen_locally(&core);
        Ok(Self { core, address, handle, local, running: tokio::spawn(server) })
    }

    /// Address that it listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
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
        let _ = tokio::time::timeout(Duration::from_secs(SHUTDOWN_SECONDS), self.running).await;
        self.core.stop().await;
    }
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
        async move {
            let peer = stream.peer_addr().map_err(DispatchError::Io)?;
            match app.edge.connect(peer.ip()) {
                Ok(places) => {
                    let connection = Connection::new(stream, *app.edge.limits(), places);
                    Ok((connection, Protocol::Http1, Some(peer)))
                }
                Err(reached) => {
                    let told = refuse(&app, stream, reached.into());
                    Err(DispatchError::Io(told.err().unwrap_or_else(|| io::ErrorKind::QuotaExceeded.into())))
                }
            }
        }
    })
    .and_then(service)
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
