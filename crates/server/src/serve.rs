//! The running server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actix_web::{App as ActixApp, HttpServer};

use crate::composition::Composition;
use crate::config::Config;
use crate::error::StartError;
use crate::http;
use crate::identity::FirstStart;

/// Seconds that open requests may take to end when the server stops.
const SHUTDOWN_SECONDS: u64 = 3;

/// A server that takes connections.
pub struct Server {
    core: Composition,
    address: SocketAddr,
    handle: ServerHandle,
    running: tokio::task::JoinHandle<std::io::Result<()>>,
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
        let server =
            HttpServer::new(move || ActixApp::new().configure(|config| http::configure(config, &app)))
                .workers(workers)
                .disable_signals()
                .keep_alive(Duration::from_secs(75))
                .client_request_timeout(Duration::from_secs(10))
                .shutdown_timeout(SHUTDOWN_SECONDS)
                .listen(listener)
                .map_err(refused)?
                .run();
        let handle = server.handle();
        Ok(Self { core, address, handle, running: tokio::spawn(server) })
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
        let _ = tokio::time::timeout(Duration::from_secs(SHUTDOWN_SECONDS), self.running).await;
        self.core.stop().await;
    }
}
