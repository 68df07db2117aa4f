// SPDX-License-Identifier: Apache-2.0

//! One request over HTTP/1.1, its answer whole or in pieces.

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::form::{Call, Wrong};
use crate::front::Server;
use crate::members::until;

/// Why there is no answer, or no request.
#[derive(Debug, PartialEq)]
pub enum Failed {
    /// Something is wrong, in words.
    Bad(Wrong),
    /// The server answers another status than 200, and says why.
    Refused(u16, String),
    /// It has more bytes than it may have.
    Long,
    /// It took longer than it may take.
    Late,
}

impl From<Wrong> for Failed {
    fn from(wrong: Wrong) -> Self {
        Failed::Bad(wrong)
    }
}

/// Sends a body, or asks with GET where there is none, and gives the answer once its head is there.
pub async fn send(address: &str, path: &str, body: Option<Vec<u8>>) -> Result<Response<Incoming>, Wrong> {
    let stream = TcpStream::connect(address).await.map_err(|error| format!("{address}: {error}"))?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    tokio::spawn(connection);
    let method = if body.is_some() { "POST" } else { "GET" };
    let request = Request::builder().method(method).uri(path).header("host", address).header("content-type", "application/json");
    let request = request.body(Full::new(Bytes::from(body.unwrap_or_default()))).map_err(|error| error.to_string())?;
    sender.send_request(request).await.map_err(|error| error.to_string())
}

/// Asks a server and gives its answer once its head is there, if that is 200.
pub(crate) async fn ask(server: &Server, call: &Call) -> Result<Response<Incoming>, Failed> {
    let body = server.form.write_call(call).to_string().into_bytes();
    let response = send(&server.address, server.form.path(), Some(body)).await?;
    let status = response.status().as_u16();
    if status == 200 { Ok(response) } else { Err(Failed::Refused(status, complaint(response.into_body()).await)) }
}

/// What an error holds of a server's refusal, and what is read to find it.
const LONGEST_TOLD: usize = 1000;
const MOST_READ: usize = 64 << 10;

/// What a server says of its refusal, on one line: the message of the error bodies that servers have, or its text.
async fn complaint(mut body: Incoming) -> String {
    let mut came = Vec::new();
    while came.len() < MOST_READ {
        let Some(Ok(frame)) = body.frame().await else { break };
        came.extend_from_slice(&frame.into_data().unwrap_or_default());
    }
    came.truncate(MOST_READ);
    let told: Option<serde_json::Value> = serde_json::from_slice(&came).ok();
    let message = told.as_ref().and_then(|told| told["error"]["message"].as_str()).filter(|message| !message.is_empty());
    let text = message.map_or_else(|| String::from_utf8_lossy(&came), Into::into);
    until(&text.split_whitespace().collect::<Vec<_>>().join(" "), LONGEST_TOLD).to_owned()
}

/// All of a body that may have so many bytes.
pub async fn whole<B>(body: B, longest: usize) -> Result<Bytes, Failed>
where
    B: Body<Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
{
    // What says of itself that it is too long is not waited for.
    if body.size_hint().lower() > longest as u64 {
        return Err(Failed::Long);
    }
    match Limited::new(body, longest).collect().await {
        Ok(all) => Ok(all.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Failed::Long),
        Err(error) => Err(Failed::Bad(error.to_string())),
    }
}
