// SPDX-License-Identifier: Apache-2.0

//! One request over HTTP/1.1, its answer whole or in pieces.

use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::form::Wrong;

/// What an answer may have in bytes.
pub const MAX_ANSWER: usize = 64 << 20;
/// How long a server may take.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// Sends a body, or asks with GET where there is none, and gives the answer once its head is there.
pub async fn send(address: &str, path: &str, body: Option<Vec<u8>>) -> Result<Response<Incoming>, Wrong> {
    let connect = async {
        let stream = TcpStream::connect(address).await.map_err(|error| format!("{address}: {error}"))?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
        tokio::spawn(connection);
        let method = if body.is_some() { "POST" } else { "GET" };
        let request = Request::builder().method(method).uri(path).header("host", address).header("content-type", "application/json");
        let request = request.body(Full::new(Bytes::from(body.unwrap_or_default()))).map_err(|error| error.to_string())?;
        sender.send_request(request).await.map_err(|error| error.to_string())
    };
    tokio::time::timeout(TIMEOUT, connect).await.map_err(|_| format!("{address} did not answer in {TIMEOUT:?}"))?
}

/// The rest of an answer, up to a limit.
pub async fn whole(response: Response<Incoming>) -> Result<(StatusCode, Bytes), Wrong> {
    let status = response.status();
    let body = Limited::new(response.into_body(), MAX_ANSWER).collect();
    let body = tokio::time::timeout(TIMEOUT, body).await.map_err(|_| format!("the answer did not end in {TIMEOUT:?}"))?;
    Ok((status, body.map_err(|error| error.to_string())?.to_bytes()))
}
