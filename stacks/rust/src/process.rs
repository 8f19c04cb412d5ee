//! Starts and stops a server.

use std::{io::ErrorKind, process::ExitCode, time::Duration};

use anyhow::anyhow;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    time::sleep,
};

use crate::Config;

/// How long requests in flight may take after `READ_TIME`.
pub const GRACE: Duration = Duration::from_secs(4);

/// How long the server still reads requests after the signal, because a graceful shutdown closes connections that look idle.
const READ_TIME: Duration = Duration::from_millis(500);

/// Runs a server until it ends. Prints an error as one line on stderr.
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

/// Waits for SIGTERM or SIGINT, then `READ_TIME`. The process exits at most [`GRACE`] later.
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
