// SPDX-License-Identifier: Apache-2.0

//! A streamed answer passed on: every delta is checked and appended (R5), and goes out with its rows, or all rows go out with the last part of each choice,
//! as the client's form has it.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::Response;
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming};
use routecap::{Overlap, Record};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::client::{self, MAX_ANSWER, TIMEOUT};
use crate::form::{Call, Choice, Form, Wrong};
use crate::front::{Gateway, Refusal, upstream};

/// A body of what is sent to it. Few pieces wait: a client that reads slowly slows the server down.
struct Events(mpsc::Receiver<String>);

impl hyper::body::Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let event = ready!(self.0.poll_recv(context));
        Poll::Ready(event.map(|event| Ok(Frame::data(Bytes::from(event)))))
    }
}

/// A streamed choice: its rows so far, and where the client has got to.
struct Growing {
    rows: Option<Record>,
    tokens: i64,
    sent: i64,
}

pub(crate) async fn answer(gateway: Arc<Gateway>, form: Form, call: Call, prompt: Record) -> Result<Response, Refusal> {
    gateway.counts.streams.fetch_add(1, Ordering::Relaxed);
    let server = &gateway.decode;
    let body = server.form.write_call(&call).to_string().into_bytes();
    let response = client::send(&server.address, server.form.path(), Some(body)).await.map_err(|wrong| upstream("decode", &wrong))?;
    if response.status() != StatusCode::OK {
        return Err(upstream("decode", &response.status().to_string()));
    }
    let (give, take) = mpsc::channel(4);
    tokio::spawn(async move {
        let passing = Passing { gateway: &gateway, form, call: &call, prompt: &prompt, give: &give };
        // The status line is gone: what is wrong is said in an event.
        let last = match passing.pass(response.into_body()).await {
            Ok(()) => "[DONE]".to_owned(),
            Err(refusal) => gateway.told(&refusal),
        };
        let _ = give.send(format!("data: {last}\n\n")).await;
    });
    let mut response = Response::new(Body::new(Events(take)));
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("text/event-stream"));
    Ok(response)
}

struct Passing<'a> {
    gateway: &'a Gateway,
    form: Form,
    call: &'a Call,
    prompt: &'a Record,
    give: &'a mpsc::Sender<String>,
}

impl Passing<'_> {
    async fn pass(&self, mut body: Incoming) -> Result<(), Refusal> {
        let decode = |wrong: Wrong| upstream("decode", &wrong);
        let mut open: Vec<Growing> = (0..self.call.choices).map(|_| Growing { rows: None, tokens: 0, sent: 0 }).collect();
        let mut text = Vec::new();
        loop {
            let frame = tokio::time::timeout(TIMEOUT, body.frame()).await.map_err(|_| decode("the stream did not go on".to_owned()))?;
            let Some(frame) = frame else { return Err(decode("the stream ended before its end".to_owned())) };
            let frame = frame.map_err(|error| decode(error.to_string()))?;
            text.extend_from_slice(&frame.into_data().unwrap_or_default());
            if text.len() > MAX_ANSWER {
                return Err(decode(format!("an event has more than {MAX_ANSWER} bytes")));
            }
            while let Some(end) = text.windows(2).position(|two| two == b"\n\n") {
                let event: Vec<u8> = text.drain(..end + 2).collect();
                let Some(data) = event.strip_prefix(b"data: ") else { continue };
                if data.starts_with(b"[DONE]") {
                    return self.complete(&open).map_err(decode);
                }
                let mut parts = self.gateway.decode.form.read_answer(data).map_err(decode)?;
                // Such an event carries usage counts or keeps the connection open; a client's form may have no way to write it.
                if parts.is_empty() {
                    continue;
                }
                for part in &mut parts {
                    self.grow(&mut open, part).map_err(|wrong| decode(format!("choice {}: {wrong}", part.index)))?;
                }
                // A client that is gone reads nothing more.
                let event = format!("data: {}\n\n", self.form.write_answer(&parts, self.call));
                self.give.send(event).await.map_err(|_| Refusal(StatusCode::BAD_REQUEST, "the client is gone".to_owned()))?;
            }
        }
    }

    fn complete(&self, open: &[Growing]) -> Result<(), Wrong> {
        let wanted = self.call.max_tokens as i64;
        match open.iter().position(|one| one.tokens != wanted || one.sent != self.call.start + one.tokens - 1) {
            Some(at) => Err(format!("choice {at} ended after {} of {wanted} tokens and row {}", open[at].tokens, open[at].sent)),
            None => Ok(()),
        }
    }

    /// Appends a delta to its choice and replaces its rows by those that the client is to get with it.
    fn grow(&self, open: &mut [Growing], part: &mut Choice) -> Result<(), Wrong> {
        let (asked, wanted) = (open.len(), self.call.max_tokens as i64);
        let one = open.get_mut(part.index).ok_or_else(|| format!("it came, asked for were {asked}"))?;
        one.tokens += part.tokens.len() as i64;
        if one.tokens > wanted {
            return Err(format!("it has {} tokens, asked for were {wanted}", one.tokens));
        }
        let (routing, end) = (std::mem::take(&mut part.routing), self.call.start + one.tokens - 1);
        part.start = 0;
        if routing == Value::Null {
            let due = self.gateway.decode.form.streams_rows() || one.tokens == wanted;
            return if due { Err("the answer has no routed_experts".to_owned()) } else { Ok(()) };
        }
        let so_far = one.rows.as_ref().unwrap_or(self.prompt);
        let begin = so_far.info().start + so_far.info().rows;
        let delta = self.gateway.decode.form.decode_rows(&routing, begin, end - begin)?;
        let grown = so_far.append(&delta, Overlap::Refuse).map_err(|error| error.to_string())?;
        if self.form.streams_rows() || one.tokens == wanted {
            let fresh = grown.slice_positions(one.sent..end).map_err(|error| error.to_string())?;
            self.gateway.write(self.form, &fresh, part)?;
            one.sent = end;
        }
        one.rows = Some(grown);
        Ok(())
    }
}
