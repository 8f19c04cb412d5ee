//! The benchmark's server in hyper alone.

mod routes;

use std::{convert::Infallible, pin::pin, process::ExitCode, sync::Arc, time::Duration};

use common::{App, Client, Config, Contents, Driver, StoreConfig, limits};
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use tokio::net::TcpListener;

use routes::Routes;

#[tokio::main]
async fn main() -> ExitCode {
    common::run(async {
        let config = Config::read(env!("CARGO_PKG_NAME"), [Driver::Rusqlite, Driver::Sqlx])?;
        let store = StoreConfig::read(config.driver, [Client::TokioPostgres, Client::SqlxPostgres])?;
        let app = App::open(&config, Some(&store), "hyper", "hyper").await?;
        let contents = Contents::open(store).await?;
        let routes = Arc::new(Routes { app, contents });
        serve(common::listen(&config).await?, &routes).await;
        routes.contents.close().await;
        Ok(())
    })
    .await
}

/// Serves until the server is told to end, then until all connections have ended.
async fn serve(listener: TcpListener, routes: &Arc<Routes>) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits::HEADERS).max_header_size(limits::HEADER_BYTES);
    let graceful = GracefulShutdown::new();
    let mut ended = pin!(common::ended());
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    eprintln!("{error}"); // such as too many open files
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    continue;
                }
            },
            () = &mut ended => break,
        };
        drop(stream.set_nodelay(true));
        let routes = routes.clone();
        let service = service_fn(move |request| {
            let routes = routes.clone();
            async move { Ok::<_, Infallible>(routes.answer(request).await) }
        });
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move { drop(connection.await) }); // of a client that went away
    }
    drop(listener);
    graceful.shutdown().await;
}
