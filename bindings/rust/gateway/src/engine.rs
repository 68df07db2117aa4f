// SPDX-License-Identifier: Apache-2.0

//! Stands in for an inference server: tokens and routes follow from the prompt, so that whoever asks can check the answer.

use std::fmt::Write;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::post;
use routecap::Record;
use serde_json::{Value, json};

use crate::form::{Call, Choice, EXPERTS, Form, LAYERS, TOP_K, Wrong};
use crate::front::Times;
use crate::refuse::{Refusal, as_json, nowhere, only, receive};

/// Output tokens of a choice.
#[must_use]
pub fn tokens_of(prompt: &[i64], index: usize, count: usize) -> Vec<i64> {
    let mut previous = prompt.last().copied().unwrap_or_default();
    (0..count)
        .map(|at| {
            previous = (previous * 31 + at as i64 + 7 * index as i64 + 3) % 50_000;
            previous
        })
        .collect()
}

/// Ids `[tokens, LAYERS, TOP_K]` of tokens that stand from a position on.
#[must_use]
pub fn routes_of(tokens: &[i64], position: i64) -> Vec<u8> {
    let mut ids = Vec::with_capacity(tokens.len() * (LAYERS * TOP_K) as usize);
    for (token, position) in tokens.iter().zip(position..) {
        for layer in 0..i64::from(LAYERS) {
            ids.extend((0..i64::from(TOP_K)).map(|k| ((token * 13 + position * 5 + layer * 29 + k * 31) % i64::from(EXPERTS)) as u8));
        }
    }
    ids
}

/// The engine's routes.
pub fn router(form: Form) -> Router {
    let serve = move |request: Request| async move { answer(form, request.into_body()).await.unwrap_or_else(|refusal| refusal.response()) };
    Router::new().route(form.path(), only("POST", post(serve))).fallback(|request: Request| async move { nowhere(&request) })
}

async fn answer(form: Form, body: Body) -> Result<Response, Refusal> {
    let call = form.read_call(&receive(body, Times::USUAL).await?).map_err(Refusal::bad)?;
    computed(form, &call).map_err(|wrong| Refusal(StatusCode::INTERNAL_SERVER_ERROR, wrong))
}

fn computed(form: Form, call: &Call) -> Result<Response, Wrong> {
    let layers: Vec<i32> = (0..LAYERS).collect();
    let mut parts = Vec::new();
    for index in 0..call.choices {
        let output = tokens_of(&call.prompt, index, call.max_tokens);
        // Every token but the last was an input.
        let inputs = [&call.prompt[..], &output[..output.len() - 1]].concat();
        let (mut first, step) = (call.start, if call.stream { 3 } else { output.len() });
        for (at, tokens) in output.chunks(step).enumerate() {
            let mut part = Choice { index, tokens: tokens.to_vec(), routing: Value::Null, start: first };
            let end = at * step + tokens.len();
            if form.streams_rows() || end == output.len() {
                let last = (call.prompt.len() + end - 1) as i64;
                let ids = routes_of(&inputs[first as usize..last as usize], first);
                let record = Record::builder(EXPERTS, TOP_K, &layers).start(first).ids(&ids).create().map_err(|error| error.to_string())?;
                part.routing = spoil(&call.fault, form, form.encode_rows(&record)?);
                first = last;
            }
            parts.push(part);
        }
    }
    if call.stream {
        let mut events = String::new();
        for part in &parts {
            let _ = write!(events, "data: {}\n\n", form.write_answer(std::slice::from_ref(part), call));
        }
        events.push_str("data: [DONE]\n\n");
        let mut response = Response::new(Body::from(events));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        return Ok(response);
    }
    let mut text = form.write_answer(&parts, call).to_string();
    if call.fault == "body" {
        text.truncate(text.len() / 2);
    }
    Ok(as_json(StatusCode::OK, text))
}

/// Makes rows wrong in a way that has been seen.
fn spoil(fault: &str, form: Form, routing: Value) -> Value {
    let prime = |shape: [i64; 3]| json!({"data": "AAAA", "shape": shape, "start": 0, "dtype": "uint8"});
    match fault {
        "truncated" if form == Form::Prime => prime([9, 6, 4]),
        "truncated" => "AAAA".into(),
        "base64" => match routing {
            Value::String(text) => text.replacen('A', "!", 1).into(),
            mut object => {
                object["data"] = "!!!!".into();
                object
            }
        },
        "huge" if form == Form::Prime => prime([999_999_999_999, 6, 4]),
        // A .npy that says it has a million million rows.
        "huge" => "k05VTVBZAQB2AHsnZGVzY3InOiAnfHUxJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDk5OTk5OTk5OTk5OSwgNiwgNCksIH0gICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAo="
            .into(),
        "absent" => Value::Null,
        _ => routing,
    }
}
