//! Mock of a provider that speaks OpenAI's wire, on a thread of its own: it answers in microseconds, or does what the name
//! of the model says.

mod answers;
mod http;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use anyhow::{Context as _, Result};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

pub use answers::Says;

/// Requests whose bytes are kept, the newest ones.
const KEPT: usize = 200;
/// Bytes of a request that are kept.
const LONGEST: usize = 64 * 1024;

/// Running mock; it ends with this value.
#[derive(Debug)]
pub struct Mock {
    address: SocketAddr,
    seen: Arc<Seen>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Counters of a mock, and requests that it kept.
#[derive(Debug, Default)]
pub struct Seen {
    requests: AtomicUsize,
    open: AtomicUsize,
    hung_up: AtomicUsize,
    most_open: AtomicUsize,
    kept: Mutex<Vec<Kept>>,
}

/// A request that was kept.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Path with its query.
    pub path: String,
    /// Headers as they came.
    pub head: String,
    /// Beginning of the body.
    pub body: String,
}

impl Seen {
    /// Requests so far.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    /// Answers under way.
    pub fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// The most answers under way at a time since it was last asked.
    pub fn take_most_open(&self) -> usize {
        self.most_open.swap(0, Ordering::Relaxed)
    }

    /// Callers that went away before their answer's end.
    pub fn hung_up(&self) -> usize {
        self.hung_up.load(Ordering::Relaxed)
    }

    /// The newest requests whose bytes were kept: not those of models that answer at once.
    pub fn kept(&self) -> Vec<Kept> {
        self.lock().clone()
    }

    fn keep(&self, request: &http::Request) {
        let mut kept = self.lock();
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        let beginning = request.body.get(..request.body.len().min(LONGEST)).unwrap_or_default();
        kept.push(Kept {
            path: request.path.clone(),
            head: request.head.clone(),
            body: String::from_utf8_lossy(beginning).into_owned(),
        });
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) -> Under<'_> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let open = self.open.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_open.fetch_max(open, Ordering::Relaxed);
        Under(self)
    }
}

/// An answer under way.
struct Under<'a>(&'a Seen);

impl Drop for Under<'_> {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Mock {
    /// Starts it on a free port of the loopback interface.
    ///
    /// # Errors
    /// When there is no port or no thread.
    pub fn start() -> Result<Self> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").context("no port for the mock")?;
        listener.set_nonblocking(true).context("the mock's port")?;
        let address = listener.local_addr().context("the mock's address")?;
        let seen = Arc::new(Seen::default());
        let (stop, stopped) = oneshot::channel();
        let shared = Arc::clone(&seen);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("no runtime for the mock")?;
        let serve = move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = stopped => {}
                    () = accept(listener, &shared) => {}
                }
            });
        };
        let thread = std::thread::Builder::new().name("mock".to_owned()).spawn(serve).context("no thread")?;
        Ok(Self { address, seen, stop: Some(stop), thread: Some(thread) })
    }

    /// Address for a connection: `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// `host:port`.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// Counters of a mock, and requests that it kept.
    pub const fn seen(&self) -> &Arc<Seen> {
        &self.seen
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // One that has ended needs no word.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn accept(listener: std::net::TcpListener, seen: &Arc<Seen>) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    while let Ok((stream, _)) = listener.accept().await {
        let seen = Arc::clone(seen);
        tokio::spawn(async move {
            let _ = stream.set_nodelay(true);
            // Whoever hangs up is counted where an answer was under way.
            let _ = serve(stream, &seen).await;
        });
    }
}

async fn serve(stream: tokio::net::TcpStream, seen: &Seen) -> Result<()> {
    let mut connection = http::Connection::of(stream);
    while let Some(request) = connection.request().await? {
        let _under = seen.begin();
        let says = Says::of(&request.body);
        if says.is_kept() {
            seen.keep(&request);
        }
        let answered = answers::answer(&mut connection, &request, says).await;
        if answered.is_err() {
            seen.hung_up.fetch_add(1, Ordering::Relaxed);
        }
        if !answered? {
            break;
        }
    }
    Ok(())
}
