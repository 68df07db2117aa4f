// SPDX-License-Identifier: Apache-2.0

//! What is told to whoever asks wrongly, by the gateway and by the engines: every error is JSON.

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::MethodRouter;
use serde_json::json;
use tokio::time::timeout;

use crate::client::{self, Failed};
use crate::form::Wrong;
use crate::front::{MAX_BODY, Times};
use crate::members::clipped;

/// What the client is told, with its status.
#[derive(Debug)]
pub(crate) struct Refusal(pub(crate) StatusCode, pub(crate) Wrong);

impl Refusal {
    /// The client's own mistake.
    pub(crate) fn bad(wrong: Wrong) -> Self {
        Refusal(StatusCode::BAD_REQUEST, wrong)
    }

    /// The body that every error has.
    pub(crate) fn body(&self) -> String {
        json!({"error": {"code": self.0.as_u16(), "message": self.1}}).to_string()
    }

    /// The whole answer.
    pub(crate) fn response(&self) -> Response {
        as_json(self.0, self.body())
    }
}

/// An answer that is JSON.
pub(crate) fn as_json(status: StatusCode, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// What is asked of a path that there is not.
pub(crate) fn nowhere(request: &Request) -> Response {
    Refusal(StatusCode::NOT_FOUND, format!("there is no {}", clipped(request.uri().path()))).response()
}

/// A path with the methods that it takes.
pub(crate) fn only(allowed: &'static str, methods: MethodRouter) -> MethodRouter {
    methods.fallback(move |request: Request| async move {
        let mut response = Refusal(StatusCode::METHOD_NOT_ALLOWED, format!("{} takes {allowed}", request.uri().path())).response();
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
        response
    })
}

/// A request's body, in the time and with the bytes that it may have.
pub(crate) async fn receive(body: Body, times: Times) -> Result<Bytes, Refusal> {
    let came = timeout(times.request, client::whole(body, MAX_BODY)).await.unwrap_or(Err(Failed::Late));
    came.map_err(|failed| match failed {
        Failed::Bad(wrong) | Failed::Refused(_, wrong) => Refusal::bad(wrong),
        Failed::Long => Refusal(StatusCode::PAYLOAD_TOO_LARGE, format!("the request is too large: more than {MAX_BODY} bytes")),
        Failed::Late => Refusal(StatusCode::REQUEST_TIMEOUT, format!("the request did not come in {:?}", times.request)),
    })
}
