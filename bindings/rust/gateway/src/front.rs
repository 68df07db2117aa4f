// SPDX-License-Identifier: Apache-2.0

//! The gateway itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use routecap::Record;
use serde_json::json;

use crate::client;
use crate::form::{Call, Choice, Form, Wrong};
use crate::stream;

/// What a request may have in bytes.
pub const MAX_BODY: usize = 1 << 20;

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
    pub(crate) counts: Counts,
}

/// What the client is told, with its status.
#[derive(Debug)]
pub(crate) struct Refusal(pub(crate) StatusCode, pub(crate) Wrong);

/// A server's mistake.
pub(crate) fn upstream(name: &str, wrong: &str) -> Refusal {
    let status = if wrong.contains("did not") { StatusCode::GATEWAY_TIMEOUT } else { StatusCode::BAD_GATEWAY };
    Refusal(status, format!("the {name} server: {wrong}"))
}

/// The gateway's routes.
pub fn router(prefill: Server, decode: Server) -> Router {
    let gateway = Arc::new(Gateway { prefill, decode, counts: Counts::default() });
    let mut router = Router::new();
    for form in Form::ALL {
        let gateway = Arc::clone(&gateway);
        // The body's error is looked at here: one that is too large has a status of its own.
        let serve = move |body: Result<Bytes, axum::extract::rejection::BytesRejection>| {
            let gateway = Arc::clone(&gateway);
            async move { gateway.serve(form, body.map_err(|error| Refusal(error.status(), error.body_text()))).await }
        };
        router = router.route(form.path(), post(serve));
    }
    router.route("/stats", get(move || async move { gateway.stats() })).layer(DefaultBodyLimit::max(MAX_BODY))
}

impl Gateway {
    fn stats(&self) -> String {
        let read = |count: &AtomicI64| count.load(Ordering::Relaxed);
        let Counts { requests, streams, rows, bad_requests, bad_upstreams } = &self.counts;
        json!({"requests": read(requests), "streams": read(streams), "rows": read(rows), "bad_requests": read(bad_requests), "bad_upstreams": read(bad_upstreams)})
            .to_string()
    }

    async fn serve(self: &Arc<Self>, form: Form, body: Result<Bytes, Refusal>) -> Response {
        self.counts.requests.fetch_add(1, Ordering::Relaxed);
        match self.answer(form, body).await {
            Ok(response) => response,
            Err(refusal) => {
                let status = refusal.0;
                let mut response = Response::new(Body::from(self.told(&refusal)));
                *response.status_mut() = status;
                response
            }
        }
    }

    /// Counts a refusal and writes it.
    pub(crate) fn told(&self, refusal: &Refusal) -> String {
        let count = if refusal.0.is_client_error() { &self.counts.bad_requests } else { &self.counts.bad_upstreams };
        count.fetch_add(1, Ordering::Relaxed);
        json!({"error": {"code": refusal.0.as_u16(), "message": refusal.1}}).to_string()
    }

    async fn answer(self: &Arc<Self>, form: Form, body: Result<Bytes, Refusal>) -> Result<Response, Refusal> {
        let mut call = form.read_call(&body?).map_err(|wrong| Refusal(StatusCode::BAD_REQUEST, wrong))?;
        if call.start != 0 {
            return Err(Refusal(StatusCode::BAD_REQUEST, format!("rows are asked for from {}; this gateway gives all of them", call.start)));
        }
        // The prefill server forwards the prompt: its rows are those of every choice. It is asked for one token, which the decode server repeats.
        let boundary = call.prompt.len() as i64;
        let one = Call { max_tokens: 1, choices: 1, stream: false, start: 0, ..call.clone() };
        let first = ask(&self.prefill, &Call { fault: String::new(), ..one }).await.map_err(|wrong| upstream("prefill", &wrong))?;
        let [first] = &first[..] else {
            return Err(upstream("prefill", &format!("{} choices came for one", first.len())));
        };
        let prompt = self.prefill.form.decode_rows(&first.routing, 0, boundary).map_err(|wrong| upstream("prefill", &wrong))?;

        call.start = boundary;
        if call.stream {
            return stream::answer(Arc::clone(self), form, call, prompt).await;
        }
        let mut choices = ask(&self.decode, &call).await.map_err(|wrong| upstream("decode", &wrong))?;
        if choices.len() != call.choices {
            return Err(upstream("decode", &format!("{} choices came for {}", choices.len(), call.choices)));
        }
        for choice in &mut choices {
            self.join(form, &prompt, choice, boundary).map_err(|wrong| upstream("decode", &format!("choice {}: {wrong}", choice.index)))?;
        }
        Ok(Response::new(Body::from(form.write_answer(&choices, &call).to_string())))
    }

    /// Puts the prompt's rows before a choice's own and writes both in the client's form (R40).
    fn join(&self, form: Form, prompt: &Record, choice: &mut Choice, boundary: i64) -> Result<(), Wrong> {
        if choice.tokens.is_empty() {
            return Err("it has no tokens".to_owned());
        }
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
}

async fn ask(server: &Server, call: &Call) -> Result<Vec<Choice>, Wrong> {
    let body = server.form.write_call(call).to_string().into_bytes();
    let (status, answer) = client::whole(client::send(&server.address, server.form.path(), Some(body)).await?).await?;
    if status != StatusCode::OK {
        return Err(format!("{status}: {}", String::from_utf8_lossy(&answer[..answer.len().min(1000)])));
    }
    server.form.read_answer(&answer)
}
