// SPDX-License-Identifier: Apache-2.0

//! ```text
//! gateway --role engine  --listen 127.0.0.1:8001 --form sglang
//! gateway --role engine  --listen 127.0.0.1:8002 --form vllm
//! gateway --role gateway --listen 127.0.0.1:8000 --prefill http://127.0.0.1:8001 --prefill-form sglang --decode http://127.0.0.1:8002 --decode-form vllm
//! ```
//!
//! POST /generate (`SGLang`), /v1/completions (vLLM), /prime (prime's object), and GET /stats. Port 0 takes a free one; the address is printed.

use std::process::ExitCode;

use gateway::front::Times;
use gateway::options::{self, Role};
use gateway::{engine, front, serve};
use tokio::net::TcpListener;

/// For options that cannot be; what fails is 1.
const CANNOT_BE: u8 = 2;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    let (router, listen) = match options::read(&arguments) {
        Ok((Role::Help, _)) => {
            print!("{}{}", options::USAGE, options::DETAILS);
            return ExitCode::SUCCESS;
        }
        Ok((Role::Engine(form), listen)) => (engine::router(form), listen),
        Ok((Role::Gateway(prefill, decode), listen)) => (front::router(prefill, decode, Times::USUAL), listen),
        Err(wrong) => {
            eprint!("gateway: {wrong}\n{}", options::USAGE);
            return ExitCode::from(CANNOT_BE);
        }
    };
    // With dynamic-loading the library is loaded now, and not while a client waits.
    if let Err(error) = routecap::version() {
        eprintln!("gateway: {error}");
        return ExitCode::FAILURE;
    }
    let listener = match TcpListener::bind(&listen).await {
        Ok(listener) => listener,
        Err(error) => {
            eprintln!("gateway: --listen {listen}: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("{}", listener.local_addr().map_or(listen, |address| address.to_string()));
    serve::serve(listener, router, Times::USUAL).await;
    ExitCode::SUCCESS
}
