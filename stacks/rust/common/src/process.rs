//! How a server starts and ends.

use std::{process::ExitCode, time::Duration};

use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    time::sleep,
};

use crate::Config;

/// How long requests in flight may take to end.
pub const GRACE: Duration = Duration::from_millis(4_000);

/// Lets what had arrived when the server was told to end be read: a graceful shutdown closes connections that look idle.
const READ_TIME: Duration = Duration::from_millis(500);

/// Serves until the end. A mistake of whoever started the server is one line on stderr.
pub async fn run(serve: impl Future<Output = anyhow::Result<()>>) -> ExitCode {
    match serve.await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Takes the port.
///
/// # Errors
/// In one line, where it cannot be had.
pub async fn listen(config: &Config) -> anyhow::Result<TcpListener> {
    TcpListener::bind((config.host.as_str(), config.port)).await.map_err(|error| config.refused(&error))
}

/// Waits until the server is told to end, by SIGTERM or SIGINT. What has not ended [`GRACE`] later is cut.
///
/// # Panics
/// Where the system refuses to tell of signals.
pub async fn ended() {
    let mut terminate = signal(SignalKind::terminate()).expect("SIGTERM can be waited for");
    let mut interrupt = signal(SignalKind::interrupt()).expect("SIGINT can be waited for");
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    sleep(READ_TIME).await;
    tokio::spawn(async {
        sleep(GRACE).await;
        std::process::exit(0);
    });
}
