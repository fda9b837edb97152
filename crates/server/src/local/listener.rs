//! The listener of the socket: a thread of its own, so that commands get in whatever the other connections do.

use std::io;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener as StdListener;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_http::error::DispatchError;
use actix_http::{HttpService, Protocol};
use actix_service::{
    IntoServiceFactory as _, Service as _, ServiceFactory, ServiceFactoryExt as _, map_config,
};
use actix_web::App as ActixApp;
use actix_web::dev::AppConfig;
use heddle_installation::socket::SocketPath;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::app::App;
use crate::command_line::LocalPeer;
use crate::http;

/// Time that open calls have when the server stops.
const GRACE: Duration = Duration::from_secs(3);
/// Time between two tries when connections can't be taken.
const PAUSE: Duration = Duration::from_secs(1);

/// A socket file that is listened on.
#[derive(Debug)]
pub(crate) struct LocalListener {
    path: PathBuf,
    ended: oneshot::Receiver<()>,
}

impl LocalListener {
    /// Listens on a socket file (mode 0600) until the service stops. Whoever calls holds the data directory, so that a
    /// file of this name is a leftover.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn start(app: &Arc<App>, path: PathBuf) -> io::Result<Self> {
        remove(&path)?;
        let listener = StdListener::bind(SocketPath::of(&path)?.as_path())?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        let (end, ended) = oneshot::channel();
        let app = Arc::clone(app);
        std::thread::Builder::new().name("heddle-local".to_owned()).spawn(move || {
            let listened =
                actix_web::rt::Runtime::new().and_then(|runtime| runtime.block_on(serve(app, listener)));
            if let Err(error) = listened {
                tracing::error!(error = %error, "the socket for commands is not listened on any more");
            }
            // Nobody waits for the end of a process that is killed.
            let _ = end.send(());
        })?;
        Ok(Self { path, ended })
    }

    /// Path of the socket file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for the end of open calls, after the service was told to stop, and takes the file away.
    pub(crate) async fn stop(self) {
        if tokio::time::timeout(GRACE, self.ended).await.is_err() {
            tracing::warn!("calls over the socket were cut off");
        }
        if let Err(error) = remove(&self.path) {
            tracing::warn!(error = %error, path = %self.path.display(), "the socket file is left");
        }
    }
}

/// Takes a socket file away, if there is one: nothing else of that name.
fn remove(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_socket() => std::fs::remove_file(path),
        Ok(_) => Err(io::Error::new(io::ErrorKind::AlreadyExists, "a file that is no socket has this name")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

async fn serve(app: Arc<App>, listener: StdListener) -> io::Result<()> {
    let listener = UnixListener::from_std(listener)?;
    let service = connections(Arc::clone(&app)).new_service(()).await;
    let service = Rc::new(service.map_err(|()| io::Error::other("the service of the socket can't be made"))?);
    let mut stop = app.stop.clone();
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            _ = stop.wait_for(|stopped| *stopped) => break,
            Some(_) = open.join_next(), if !open.is_empty() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) if is_operator(&stream) => {
                    let service = Rc::clone(&service);
                    open.spawn_local(async move {
                        if let Err(error) = service.call((stream, Protocol::Http1, None)).await {
                            tracing::debug!(error = %error, "a connection over the socket ended");
                        }
                    });
                }
                Ok(_) => tracing::warn!("another user tried the socket for commands"),
                Err(error) => {
                    tracing::warn!(error = %error, "the socket for commands takes no connection");
                    tokio::time::sleep(PAUSE).await;
                }
            },
        }
    }
    let all = async { while open.join_next().await.is_some() {} };
    // What goes on longer is cut off with the thread.
    let _ = tokio::time::timeout(GRACE, all).await;
    Ok(())
}

/// Whether the other end is of the server's user, or of root.
fn is_operator(stream: &UnixStream) -> bool {
    let own = rustix::process::geteuid().as_raw();
    stream.peer_cred().is_ok_and(|peer| may_command(peer.uid(), own))
}

/// Whether a user of the system may give commands to a server of the user `own`.
const fn may_command(peer: u32, own: u32) -> bool {
    peer == own || peer == 0
}

fn connections(
    app: Arc<App>,
) -> impl ServiceFactory<
    (UnixStream, Protocol, Option<std::net::SocketAddr>),
    Config = (),
    Response = (),
    Error = DispatchError,
    InitError = (),
> {
    let limits = *app.edge.limits();
    let stop = app.stop.clone();
    let web = ActixApp::new().configure(move |config| {
        super::routes::configure(config, &app);
        http::configure(config, &app);
    });
    let web = web.into_factory().map_err(|error: actix_web::Error| error.error_response());
    HttpService::build()
        .graceful_shutdown_signal(move || {
            let mut stop = stop.clone();
            async move {
                let _ = stop.wait_for(|stopped| *stopped).await;
            }
        })
        .keep_alive(limits.keep_alive)
        .client_request_timeout(limits.head)
        .on_connect_ext(|_: &UnixStream, data| {
            data.insert(LocalPeer);
        })
        .finish(map_config(web, |()| AppConfig::default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_but_the_servers_own_user_and_root_gives_commands() {
        for (peer, own, may) in [(1000, 1000, true), (0, 1000, true), (1001, 1000, false), (1000, 0, false)] {
            assert_eq!(may_command(peer, own), may, "{peer} to {own}");
        }
    }

    #[test]
    fn a_leftover_socket_is_taken_away_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (socket, file) = (folder.path().join("a.sock"), folder.path().join("b.sock"));
        drop(StdListener::bind(&socket).unwrap());
        std::fs::write(&file, "").unwrap();
        assert!(remove(&socket).is_ok() && !socket.exists() && remove(&socket).is_ok());
        assert!(remove(&file).is_err() && file.exists());
    }
}
