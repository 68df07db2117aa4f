// SPDX-License-Identifier: Apache-2.0

//! The gateway itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use routecap::Record;
use serde_json::json;
use tokio::time::timeout;

use crate::client::{self, Failed};
use crate::form::{Call, Choice, Form, Wrong};
use crate::refuse::{Refusal, as_json, nowhere, only, receive};
use crate::stream;

/// What a request may have in bytes.
pub const MAX_BODY: usize = 1 << 20;

/// How long the gateway waits for whom.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// For a client: with its request, and with reading anything of its answer.
    pub request: Duration,
    /// For a server, with its whole answer.
    pub answer: Duration,
}

impl Times {
    /// What the program takes.
    pub const USUAL: Times = Times { request: Duration::from_secs(10), answer: Duration::from_secs(30) };
}

/// One upstream server.
#[derive(Clone, Debug)]
pub struct Server {
    /// Host and port.
    pub address: String,
    /// The form it speaks.
    pub form: Form,
}

/// What `GET /stats` says.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    requests: AtomicI64,
    pub(crate) streams: AtomicI64,
    rows: AtomicI64,
    bad_requests: AtomicI64,
    bad_upstreams: AtomicI64,
}

/// A gateway before two servers.
#[derive(Debug)]
pub struct Gateway {
    pub(crate) prefill: Server,
    pub(crate) decode: Server,
    pub(crate) times: Times,
    pub(crate) counts: Counts,
}

/// A server's mistake.
pub(crate) fn upstream(name: &str, wrong: &str) -> Refusal {
    Refusal(StatusCode::BAD_GATEWAY, format!("the {name} server: {wrong}"))
}

/// The gateway's routes.
pub fn router(prefill: Server, decode: Server, times: Times) -> Router {
    let gateway = Arc::new(Gateway { prefill, decode, times, counts: Counts::default() });
    let mut router = Router::new();
    for form in Form::ALL {
        let gateway = Arc::clone(&gateway);
        let serve = move |request: Request| {
            let gateway = Arc::clone(&gateway);
            async move { gateway.serve(form, request.into_body()).await }
        };
        router = router.route(form.path(), only("POST", post(serve)));
    }
    router
        .route("/stats", only("GET, HEAD", get(move || async move { as_json(StatusCode::OK, gateway.stats()) })))
        .fallback(|request: Request| async move { nowhere(&request) })
}

impl Gateway {
    fn stats(&self) -> String {
        let read = |count: &AtomicI64| count.load(Ordering::Relaxed);
        let Counts { requests, streams, rows, bad_requests, bad_upstreams } = &self.counts;
        json!({"requests": read(requests), "streams": read(streams), "rows": read(rows), "bad_requests": read(bad_requests), "bad_upstreams": read(bad_upstreams)})
            .to_string()
    }

    async fn serve(self: &Arc<Self>, form: Form, body: Body) -> Response {
        self.counts.requests.fetch_add(1, Ordering::Relaxed);
        match self.answer(form, body).await {
            Ok(response) => response,
            Err(refusal) => as_json(refusal.0, self.told(&refusal)),
        }
    }

    /// Counts a refusal and writes it.
    pub(crate) fn told(&self, refusal: &Refusal) -> String {
        let count = if refusal.0.is_client_error() { &self.counts.bad_requests } else { &self.counts.bad_upstreams };
        count.fetch_add(1, Ordering::Relaxed);
        refusal.body()
    }

    /// What a server's failure is to the client.
    pub(crate) fn failure(&self, name: &str, call: &Call, failed: Failed) -> Refusal {
        match failed {
            Failed::Bad(wrong) => upstream(name, &wrong),
            // A refusal of the server's own is the client's to know.
            Failed::Refused(status, text) => {
                let told = if text.is_empty() { String::new() } else { format!(": {text}") };
                let passed_on = StatusCode::from_u16(status).ok().filter(StatusCode::is_client_error).unwrap_or(StatusCode::BAD_GATEWAY);
                Refusal(passed_on, format!("the {name} server: it answers {status}{told}"))
            }
            Failed::Long => upstream(name, &call.too_long()),
            Failed::Late => Refusal(StatusCode::GATEWAY_TIMEOUT, format!("the {name} server: its answer took longer than {:?}", self.times.answer)),
        }
    }

    async fn answer(self: &Arc<Self>, form: Form, body: Body) -> Result<Response, Refusal> {
        let mut call = form.read_call(&receive(body, self.times).await?).map_err(Refusal::bad)?;
        if call.start != 0 {
            return Err(Refusal::bad(format!("{} is {}; this gateway gives all rows, from 0", form.start_name(), call.start)));
        }
        // The prefill server forwards the prompt: its rows are those of every choice. It is asked for one token, which the decode server repeats.
        let boundary = call.prompt.len() as i64;
        let one = Call { max_tokens: 1, choices: 1, stream: false, start: 0, fault: String::new(), prompt: call.prompt.clone() };
        let first = self.ask("prefill", &self.prefill, &one).await?;
        let prompt = self.prefill.form.decode_rows(&first[0].routing, 0, boundary).map_err(|wrong| upstream("prefill", &wrong))?;

        call.start = boundary;
        if call.stream {
            return stream::answer(Arc::clone(self), form, call, prompt).await;
        }
        let mut choices = self.ask("decode", &self.decode, &call).await?;
        for choice in &mut choices {
            self.join(form, &prompt, choice, boundary).map_err(|wrong| upstream("decode", &format!("choice {}: {wrong}", choice.index)))?;
        }
        Ok(as_json(StatusCode::OK, form.write_answer(&choices, &call).to_string()))
    }

    /// Puts the prompt's rows before a choice's own and writes both in the client's form (R40).
    fn join(&self, form: Form, prompt: &Record, choice: &mut Choice, boundary: i64) -> Result<(), Wrong> {
        let decode = self.decode.form.decode_rows(&choice.routing, boundary, choice.tokens.len() as i64 - 1)?;
        let merged = prompt.merge(&decode, boundary).map_err(|error| error.to_string())?;
        self.write(form, &merged, choice)
    }

    /// Gives a choice a record's rows.
    pub(crate) fn write(&self, form: Form, record: &Record, choice: &mut Choice) -> Result<(), Wrong> {
        let info = record.info();
        if info.rows_valid != info.rows {
            return Err(format!("{} of {} rows are missing", info.rows - info.rows_valid, info.rows));
        }
        choice.start = info.start;
        choice.routing = form.encode_rows(record)?;
        self.counts.rows.fetch_add(info.rows, Ordering::Relaxed);
        Ok(())
    }

    async fn ask(&self, name: &str, server: &Server, call: &Call) -> Result<Vec<Choice>, Refusal> {
        timeout(self.times.answer, answer_of(server, call)).await.unwrap_or(Err(Failed::Late)).map_err(|failed| self.failure(name, call, failed))
    }
}

/// The choices of an answer that came whole: each that was asked for, once.
async fn answer_of(server: &Server, call: &Call) -> Result<Vec<Choice>, Failed> {
    let response = client::ask(server, call).await?;
    let choices = server.form.read_answer(&client::whole(response.into_body(), call.longest_answer()).await?)?;
    if choices.len() != call.choices {
        return Err(Failed::Bad(format!("{} choices came, asked for were {}", choices.len(), call.choices)));
    }
    let mut came = vec![false; call.choices];
    for Choice { index, tokens, .. } in &choices {
        match came.get_mut(*index) {
            None => return Err(Failed::Bad(format!("choice {index} came, asked for were {}", call.choices))),
            Some(true) => return Err(Failed::Bad(format!("choice {index} came twice"))),
            Some(seen) => *seen = true,
        }
        if !(1..=call.max_tokens).contains(&tokens.len()) {
            return Err(Failed::Bad(format!("choice {index} has {} tokens, asked for were 1 .. {}", tokens.len(), call.max_tokens)));
        }
    }
    Ok(choices)
}
