//! Records the version of the compiler that builds the servers.

use std::{env, process::Command};

fn main() {
    let rustc = env::var("RUSTC").expect("Cargo sets RUSTC");
    let output = Command::new(rustc).arg("--version").output().expect("rustc runs");
    let line = String::from_utf8(output.stdout).expect("rustc speaks UTF-8"); // rustc 1.95.0 (59807616e 2026-04-14)
    let version = line.split(' ').nth(1).expect("rustc says its version");
    println!("cargo::rustc-env=RUSTC_VERSION={version}");
    println!("cargo::rerun-if-changed=build.rs");
}
