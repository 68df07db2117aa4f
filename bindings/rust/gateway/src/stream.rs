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
use tokio::time::timeout;

use crate::client::{self, Failed};
use crate::form::{Call, Choice, Form, Wrong};
use crate::front::Gateway;
use crate::refuse::Refusal;

/// A body of what is sent to it, with the first piece ahead. Few pieces wait: a client that reads slowly slows the server down.
struct Events {
    first: Option<String>,
    rest: mpsc::Receiver<Result<String, Refusal>>,
    gateway: Arc<Gateway>,
}

impl hyper::body::Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let event = match self.first.take() {
            Some(first) => Some(first),
            // The status line is gone: what is wrong is said in an event.
            None => ready!(self.rest.poll_recv(context)).map(|event| event.unwrap_or_else(|refusal| event_of(&self.gateway.told(&refusal)))),
        };
        Poll::Ready(event.map(|event| Ok(Frame::data(Bytes::from(event)))))
    }
}

fn event_of(data: &str) -> String {
    format!("data: {data}\n\n")
}

/// A streamed choice: its rows so far, and where the client has got to.
struct Growing {
    rows: Option<Record>,
    tokens: i64,
    sent: i64,
}

pub(crate) async fn answer(gateway: Arc<Gateway>, form: Form, call: Call, prompt: Record) -> Result<Response, Refusal> {
    gateway.counts.streams.fetch_add(1, Ordering::Relaxed);
    let (give, mut take) = mpsc::channel(4);
    let shared = Arc::clone(&gateway);
    tokio::spawn(async move {
        let passing = Passing { gateway: &shared, form, call: &call, prompt: &prompt, give: &give };
        let passed = timeout(shared.times.answer, passing.pass()).await.unwrap_or(Err(Failed::Late));
        let last = passed.map(|()| event_of("[DONE]")).map_err(|failed| shared.failure("decode", &call, failed));
        // A client that is gone is not told. One that reads nothing has its time again.
        let _ = timeout(shared.times.request, give.send(last)).await;
    });
    // What is wrong before the first event has a status of its own.
    let first = take.recv().await.unwrap_or_else(|| Err(Refusal(StatusCode::INTERNAL_SERVER_ERROR, "the stream was given up".to_owned())))?;
    let mut response = Response::new(Body::new(Events { first: Some(first), rest: take, gateway }));
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("text/event-stream"));
    Ok(response)
}

struct Passing<'a> {
    gateway: &'a Gateway,
    form: Form,
    call: &'a Call,
    prompt: &'a Record,
    give: &'a mpsc::Sender<Result<String, Refusal>>,
}

impl Passing<'_> {
    async fn pass(&self) -> Result<(), Failed> {
        let response = client::ask(&self.gateway.decode, self.call).await?;
        self.events(response.into_body()).await
    }

    async fn events(&self, mut body: Incoming) -> Result<(), Failed> {
        let mut open: Vec<Growing> = (0..self.call.choices).map(|_| Growing { rows: None, tokens: 0, sent: 0 }).collect();
        let (mut text, mut came) = (Vec::new(), 0);
        loop {
            let Some(frame) = body.frame().await else { return Err(Failed::Bad("the stream ended before its end".to_owned())) };
            let data = frame.map_err(|error| error.to_string())?.into_data().unwrap_or_default();
            came += data.len();
            if came > self.call.longest_answer() {
                return Err(Failed::Long);
            }
            // What was there has no end of an event but, maybe, the half of one.
            let mut from = text.len().saturating_sub(1);
            text.extend_from_slice(&data);
            while let Some(end) = text[from..].windows(2).position(|two| two == b"\n\n") {
                let event: Vec<u8> = text.drain(..from + end + 2).collect();
                from = 0;
                if self.event(&mut open, &event).await? {
                    return Ok(());
                }
            }
        }
    }

    /// Passes an event on; whether it was the last.
    async fn event(&self, open: &mut [Growing], event: &[u8]) -> Result<bool, Failed> {
        let Some(data) = event.strip_prefix(b"data: ") else { return Ok(false) };
        if data.starts_with(b"[DONE]") {
            self.complete(open)?;
            return Ok(true);
        }
        let mut parts = self.gateway.decode.form.read_answer(data)?;
        // Such an event carries usage counts or keeps the connection open; a client's form may have no way to write it.
        if parts.is_empty() {
            return Ok(false);
        }
        for part in &mut parts {
            self.grow(open, part)?;
        }
        // A client that is gone reads nothing more.
        let event = event_of(&self.form.write_answer(&parts, self.call).to_string());
        self.give.send(Ok(event)).await.map_err(|_| "the client is gone".to_owned())?;
        Ok(false)
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
        let (index, asked, wanted) = (part.index, open.len(), self.call.max_tokens as i64);
        let one = open.get_mut(index).ok_or_else(|| format!("choice {index} came, asked for were {asked}"))?;
        one.tokens += part.tokens.len() as i64;
        if one.tokens > wanted {
            return Err(format!("choice {index} has {} tokens, asked for were {wanted}", one.tokens));
        }
        self.append(one, part).map_err(|wrong| format!("choice {index}: {wrong}"))
    }

    fn append(&self, one: &mut Growing, part: &mut Choice) -> Result<(), Wrong> {
        let (routing, end) = (std::mem::take(&mut part.routing), self.call.start + one.tokens - 1);
        let last = one.tokens == self.call.max_tokens as i64;
        part.start = 0;
        if routing == Value::Null {
            let due = self.gateway.decode.form.streams_rows() || last;
            return if due { Err("the answer has no routed_experts".to_owned()) } else { Ok(()) };
        }
        let so_far = one.rows.as_ref().unwrap_or(self.prompt);
        let begin = so_far.info().start + so_far.info().rows;
        let delta = self.gateway.decode.form.decode_rows(&routing, begin, end - begin)?;
        let grown = so_far.append(&delta, Overlap::Refuse).map_err(|error| error.to_string())?;
        if self.form.streams_rows() || last {
            let fresh = grown.slice_positions(one.sent..end).map_err(|error| error.to_string())?;
            self.gateway.write(self.form, &fresh, part)?;
            one.sent = end;
        }
        one.rows = Some(grown);
        Ok(())
    }
}
