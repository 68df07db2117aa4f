// SPDX-License-Identifier: Apache-2.0

//! ```text
//! gateway engine  127.0.0.1:8001 sglang
//! gateway engine  127.0.0.1:8002 vllm
//! gateway gateway 127.0.0.1:8000 127.0.0.1:8001 sglang 127.0.0.1:8002 vllm
//! ```
//!
//! POST /generate (`SGLang`), /v1/completions (vLLM), /prime (prime's object), and GET /stats. Port 0 takes a free one; the address is printed.

use gateway::form::Form;
use gateway::front::Server;
use gateway::{engine, front};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let named = |name: &str| Form::named(name).ok_or_else(|| format!("no form '{name}'; there are sglang, vllm and prime"));
    let (listen, router) = match arguments[..] {
        ["engine", listen, form] => (listen, engine::router(named(form)?)),
        ["gateway", listen, prefill, prefill_form, decode, decode_form] => {
            let server = |address: &str, form| Ok::<_, String>(Server { address: address.to_owned(), form: named(form)? });
            (listen, front::router(server(prefill, prefill_form)?, server(decode, decode_form)?))
        }
        _ => return Err("usage: gateway engine ADDRESS FORM | gateway gateway ADDRESS PREFILL FORM DECODE FORM".into()),
    };
    let listener = TcpListener::bind(listen).await?;
    println!("{}", listener.local_addr()?);
    axum::serve(listener, router).await?;
    Ok(())
}
