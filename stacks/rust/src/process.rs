//! How a server starts and ends.

use std::{io::ErrorKind, process::ExitCode, time::Duration};

use anyhow::anyhow;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    time::sleep,
};

use crate::Config;

/// How long requests in flight may take to end.
pub const GRACE: Duration = Duration::from_secs(4);

/// Before it, so that requests which have arrived are read: a graceful shutdown closes connections that look idle.
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

pub async fn listen(Config { host, port, .. }: &Config) -> anyhow::Result<TcpListener> {
    TcpListener::bind((host.as_str(), *port)).await.map_err(|error| {
        let reason = match error.kind() {
            ErrorKind::AddrInUse => "is taken".into(),
            _ => format!("cannot be listened on ({error})"),
        };
        anyhow!("{host}:{port} {reason}: choose another with PORT or HOST")
    })
}

/// Waits for SIGTERM or SIGINT. The process exits [`GRACE`] later at the latest.
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
