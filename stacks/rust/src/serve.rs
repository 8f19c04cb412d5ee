use std::{error::Error, pin::pin, time::Duration};

use hyper::{
    Request, Response,
    body::{Body, Incoming},
    server::conn::http1,
    service::Service,
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use tokio::{net::TcpListener, time::sleep};

use crate::{ended, limits};

/// Serves connections with hyper until the signal to stop, then waits until all connections have ended. axum's documentation
/// recommends this instead of `axum::serve`, which has no settings.
pub async fn serve<S, B>(listener: TcpListener, service: S)
where
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits::HEADERS).max_header_size(limits::HEADER_BYTES);
    let graceful = GracefulShutdown::new();
    let mut ended = pin!(ended());
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    eprintln!("{error}"); // for example too many open files
                    sleep(Duration::from_secs(1)).await;
                    continue;
                }
            },
            () = &mut ended => break,
        };
        drop(stream.set_nodelay(true)); // fails if the client has disconnected; serving it fails then too
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service.clone()));
        tokio::spawn(connection);
    }
    drop(listener);
    graceful.shutdown().await;
}
