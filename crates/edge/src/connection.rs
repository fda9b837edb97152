//! Connections with deadlines. A head that does not end, a connection without a request and an answer that nobody reads
//! are cut here, below HTTP, so that no request has to think of them.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep, sleep_until};
use tokio_rustls::server::TlsStream;

use crate::limits::{EdgeLimits, Pace};
use crate::tally::Place;
use crate::{Connected, HeldBody, Holder};

/// Bytes that wait in the kernel to be sent: few, so that what a reader takes is seen soon.
const UNSENT: u32 = 128 * 1024;

/// State of a connection that its requests and its socket share.
#[derive(Debug)]
pub struct Link {
    /// Requests that are being answered.
    open: Cell<usize>,
    /// Since when there is none.
    idle: Cell<Instant>,
    /// Since when the next request is heard.
    heard: Cell<Option<Instant>>,
    /// Whether the client has ended its side: it asks no more, and most read no more.
    ended: Cell<bool>,
}

/// Request that is being answered, until its answer is handed over whole.
#[derive(Debug)]
pub struct Open {
    link: Option<Rc<Link>>,
    /// Whether a body may go on after the answer: one whose length was not announced.
    unread: bool,
    _place: Option<Place<Holder>>,
    _body: Option<HeldBody>,
}

impl Open {
    /// Begin of the answer to a request that came by this connection; `unread` where its body has no announced length.
    #[must_use]
    pub fn begin(link: Option<Rc<Link>>, unread: bool) -> Self {
        if let Some(link) = &link {
            link.open.set(link.open.get() + 1);
            link.heard.set(None);
        }
        Self { link, unread, _place: None, _body: None }
    }

    /// Notes that the request's body has come to its end, and holds its bytes for as long as the request takes.
    pub fn has_read(&mut self, body: HeldBody) {
        self.unread = false;
        self._body = Some(body);
    }

    /// Gives back what the request held, now that there is its answer.
    pub fn answered(mut self) -> Self {
        self._body = None;
        self
    }

    /// Whether the client has ended its side of the connection.
    #[must_use]
    pub fn has_left(&self) -> bool {
        self.link.as_ref().is_some_and(|link| link.ended.get())
    }

    /// End of the client's side of the connection. What answers a request is polled whenever something comes from its
    /// client, so this needs no waker of its own.
    pub fn left(&self) -> impl Future<Output = ()> + use<> {
        let link = self.link.clone();
        std::future::poll_fn(move |_| match link.as_ref().is_some_and(|link| link.ended.get()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
    }

    /// The same with a place among its client's requests.
    pub fn hold(&mut self, place: Option<Place<Holder>>) {
        self._place = place;
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(link) = &self.link {
            link.open.set(link.open.get().saturating_sub(1));
            let now = Instant::now();
            link.idle.set(now);
            // What is left of the body has to end as soon as a head.
            link.heard.set(self.unread.then_some(now));
        }
    }
}

/// Stream of a connection. Deadlines are held above TLS: what counts is what the client asks and takes.
#[derive(Debug)]
pub enum Wire {
    /// Plain.
    Plain(TcpStream),
    /// TLS, whose handshake is done.
    Tls(Box<TlsStream<TcpStream>>),
}

impl Wire {
    fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream) => stream.get_ref().0,
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

/// Connection that is cut when its client is too slow.
#[derive(Debug)]
pub struct Connection {
    stream: Wire,
    link: Rc<Link>,
    limits: EdgeLimits,
    look: Pin<Box<Sleep>>,
    stalled: Option<Stall>,
    _places: Connected,
}

/// Answer that the client has not taken yet.
#[derive(Debug)]
struct Stall {
    since: Instant,
    taken: usize,
    over: Pin<Box<Sleep>>,
}

impl Connection {
    /// Stream with its deadlines, and the places that it holds.
    pub fn new(stream: Wire, limits: EdgeLimits, places: Connected) -> Self {
        let link = Link {
            open: Cell::new(0),
            idle: Cell::new(Instant::now()),
            heard: Cell::new(None),
            ended: Cell::new(false),
        };
        // A kernel without the option shows later that a reader is slow; the deadline holds all the same.
        let _ = socket2::SockRef::from(stream.socket()).set_tcp_notsent_lowat(UNSENT);
        let look = Box::pin(sleep(Self::look_every(&limits)));
        Self { stream, link: Rc::new(link), limits, look, stalled: None, _places: places }
    }

    /// State that requests of the connection share with it.
    pub fn link(&self) -> Rc<Link> {
        Rc::clone(&self.link)
    }

    /// Time between two looks at the deadlines: a timer set anew for each request would cost more.
    fn look_every(limits: &EdgeLimits) -> Duration {
        limits.head.min(limits.keep_alive) / 2
    }

    /// Whether the client takes too long to ask.
    fn is_overdue(&self, now: Instant) -> bool {
        if self.link.open.get() > 0 {
            return false;
        }
        match self.link.heard.get() {
            Some(since) => now >= since + self.limits.head,
            None => now >= self.link.idle.get() + self.limits.keep_alive + self.limits.head,
        }
    }

    fn look(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        while self.look.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            if self.is_overdue(now) {
                return Err(self.cut("a request did not come in time"));
            }
            self.look.as_mut().reset(now + Self::look_every(&self.limits));
        }
        Ok(())
    }

    fn stalled(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        let pace = self.limits.pace;
        let stall = self.stalled.get_or_insert_with(|| Stall::begin(pace));
        stall.over.as_mut().reset(pace.deadline(stall.since, stall.taken));
        match stall.over.as_mut().poll(cx) {
            Poll::Ready(()) => Err(self.cut("an answer was not read in time")),
            Poll::Pending => Ok(()),
        }
    }

    /// End at once: what the kernel still holds for the client goes, too.
    fn cut(&self, why: &'static str) -> io::Error {
        let _ = self.stream.socket().set_zero_linger();
        tracing::debug!(why, "a connection was cut");
        io::Error::new(io::ErrorKind::TimedOut, why)
    }
}

impl Stall {
    fn begin(pace: Pace) -> Self {
        let since = Instant::now();
        Self { since, taken: 0, over: Box::pin(sleep_until(pace.deadline(since, 0))) }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let (before, room) = (buffer.filled().len(), buffer.remaining());
        match Pin::new(&mut self.stream).poll_read(cx, buffer) {
            Poll::Ready(result) => {
                let some = buffer.filled().len() > before;
                if some && self.link.open.get() == 0 && self.link.heard.get().is_none() {
                    self.link.heard.set(Some(Instant::now()));
                }
                if result.is_ok() && !some && room > 0 {
                    self.link.ended.set(true);
                }
                // Who sends without a pause is looked at, too.
                self.look(cx)?;
                Poll::Ready(result)
            }
            Poll::Pending => {
                self.look(cx)?;
                Poll::Pending
            }
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write(cx, bytes) {
            Poll::Ready(Ok(taken)) => {
                match &mut self.stalled {
                    Some(stall) if taken < bytes.len() => stall.taken += taken,
                    Some(_) | None => self.stalled = None,
                }
                Poll::Ready(Ok(taken))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                self.stalled(cx)?;
                Poll::Pending
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_flush(cx) {
            Poll::Ready(result) => Poll::Ready(result),
            // TLS keeps what the client does not take; the kernel's part of a plain answer is seen in `poll_write`.
            Poll::Pending => {
                self.stalled(cx)?;
                Poll::Pending
            }
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
        Poll::Ready(Ok(()))
    }
}
