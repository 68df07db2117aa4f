// SPDX-License-Identifier: Apache-2.0

//! What is told to clients that ask wrongly, and what of servers that answer wrongly. The cases are the same for the gateways of all languages.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use gateway::front::{self, Server, Times};
use gateway::{client, engine, form::Form, serve};
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};

fn cases(part: &str, least: usize) -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests/gateway/cases.json");
    let all: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let list = all[part].as_array().unwrap().clone();
    assert!(list.len() >= least, "{} cases of {part}", list.len());
    list
}

/// A case's text, with what is repeated in place of `%s`.
fn text(case: &Value, name: &str) -> String {
    let text = case[name].as_str().unwrap();
    case["repeat"].as_array().map_or_else(
        || text.to_owned(),
        |repeat| text.replace("%s", &repeat[0].as_str().unwrap().repeat(usize::try_from(repeat[1].as_u64().unwrap()).unwrap())),
    )
}

async fn listen(router: axum::Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(serve::serve(listener, router, Times::USUAL));
    address
}

fn server(address: &str, form: Form) -> Server {
    Server { address: address.to_owned(), form }
}

async fn gateway(prefill: (&str, Form), decode: (&str, Form)) -> String {
    listen(front::router(server(prefill.0, prefill.1), server(decode.0, decode.1), Times::USUAL)).await
}

async fn good() -> String {
    listen(engine::router(Form::SgLang)).await
}

async fn post(address: &str, path: &str, body: &[u8]) -> (u16, Vec<u8>) {
    let response = client::send(address, path, Some(body.to_vec())).await.unwrap();
    let status = response.status().as_u16();
    (status, client::whole(response.into_body(), 64 << 20).await.unwrap().to_vec())
}

/// The message of an error body, which has nothing else in it.
fn said(status: u16, body: &[u8]) -> String {
    let shown = String::from_utf8_lossy(body);
    let told: Value = serde_json::from_slice(body).unwrap_or_else(|error| panic!("{status} has the body {shown}: {error}"));
    let error = told["error"].as_object().unwrap_or_else(|| panic!("{status} has the body {shown}"));
    assert_eq!((told.as_object().unwrap().len(), error.len(), &error["code"]), (1, 2, &Value::from(status)), "{shown}");
    let message = error["message"].as_str().unwrap();
    assert!(!message.is_empty() && !message.contains(['\n', '\r']), "{shown}");
    message.to_owned()
}

/// The gateway judges a request itself, and so does a stand-in engine; nobody is asked.
#[tokio::test]
async fn bad_requests() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let nobody = listen(axum::Router::new().fallback(move || {
        count.fetch_add(1, Ordering::Relaxed);
        async { "" }
    }))
    .await;
    let front = gateway((&nobody, Form::Vllm), (&nobody, Form::Vllm)).await;
    let mut engines = Vec::new();
    for form in Form::ALL {
        engines.push(listen(engine::router(form)).await);
    }
    let (front, engines) = (&front, &engines);
    let check = async |form: Form, body: &[u8], says: &str| {
        for (who, address) in [("gateway", front), ("engine", &engines[form as usize])] {
            let (status, answer) = post(address, form.path(), body).await;
            let message = said(status, &answer);
            let shown = String::from_utf8_lossy(&body[..body.len().min(200)]);
            assert!(status == 400 && message.starts_with(says), "{form:?} of the {who}, {shown}: {status} {message}, want {says}");
        }
    };
    for case in cases("requests", 100) {
        let (form, body) = (Form::named(case["form"].as_str().unwrap()).unwrap(), text(&case, "body"));
        check(form, body.as_bytes(), case["says"].as_str().unwrap()).await;
        if form == Form::Vllm {
            check(Form::Prime, body.as_bytes(), case["says"].as_str().unwrap()).await;
        }
    }
    for (form, before) in [(Form::SgLang, r#"{"input_ids":[1],"a":""#), (Form::Vllm, r#"{"prompt":[1],"abcd":""#)] {
        // A byte that is none of UTF-8, half a surrogate pair, more bytes than a number needs, and a letter cut off.
        for letter in [&b"\xff"[..], b"\xed\xa0\x80", b"\xc0\x80", b"\xe2\x82"] {
            let body = [before.as_bytes(), "\u{20ac}".as_bytes(), letter, b"\"}"].concat();
            check(form, &body, "the request is no UTF-8 at byte 25").await;
        }
    }
    for (form, body) in
        [(Form::SgLang, r#"{"input_ids":[1,2],"routed_experts_start_len":1}"#), (Form::Vllm, r#"{"prompt":[1,2],"routed_experts_prompt_start":1}"#)]
    {
        let (status, answer) = post(front, form.path(), body.as_bytes()).await;
        assert_eq!((status, said(status, &answer)), (400, format!("{} is 1; this gateway gives all rows, from 0", form.start_name())));
    }
    assert_eq!(asked.load(Ordering::Relaxed), 0, "a server was asked");
}

/// Where no number of tokens is asked for, the servers' own holds.
#[tokio::test]
async fn tokens_where_none_are_asked_for() {
    let good = good().await;
    let front = gateway((&good, Form::SgLang), (&good, Form::SgLang)).await;
    for (form, want, bodies) in [
        (
            Form::SgLang,
            128,
            &[
                r#"{"input_ids":[4]}"#,
                r#"{"input_ids":[4],"sampling_params":null}"#,
                r#"{"input_ids":[4],"sampling_params":{"max_new_tokens":null}}"#,
            ][..],
        ),
        (Form::Vllm, 16, &[r#"{"prompt":[4]}"#, r#"{"prompt":[4],"max_tokens":null}"#]),
    ] {
        for body in bodies {
            let (status, answer) = post(&front, form.path(), body.as_bytes()).await;
            let choices = form.read_answer(&answer).unwrap_or_else(|wrong| panic!("{body}: {status} {wrong}"));
            assert_eq!((status, choices.len(), &choices[0].tokens), (200, 1, &engine::tokens_of(&[4], 0, want)), "{body}");
        }
    }
}

/// Paths and methods that are not served.
#[tokio::test]
async fn other_paths_and_methods() {
    let good = good().await;
    let front = gateway((&good, Form::SgLang), (&good, Form::SgLang)).await;
    for (engine, address) in [(false, &front), (true, &good)] {
        for case in cases("paths", 10) {
            let (method, path) = (case["method"].as_str().unwrap(), text(&case, "path"));
            let (mut status, mut allow, mut says) =
                (case["status"].as_u64().unwrap(), case["allow"].as_str().unwrap(), case["says"].as_str().unwrap());
            if engine && path == "/stats" {
                (status, allow, says) = (404, "", "there is no /stats");
            }
            let stream = TcpStream::connect(address).await.unwrap();
            let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
            tokio::spawn(connection);
            let request = hyper::Request::builder().method(method).uri(path.as_str()).header("host", "gateway");
            let response = sender.send_request(request.body(Empty::<Bytes>::new()).unwrap()).await.unwrap();
            let header = |name: &str| response.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
            let (came, told, kind) = (u64::from(response.status().as_u16()), header("allow"), header("content-type"));
            assert_eq!((came, told.as_str(), kind.as_str()), (status, allow, "application/json"), "{method} {path}");
            let body = response.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(body.is_empty(), method == "HEAD", "{method} {path}");
            if method != "HEAD" && status != 200 {
                assert_eq!(said(status as u16, &body), says, "{method} {path}");
            }
        }
    }
}

/// Whatever a server answers, and wherever, the client is told which server and what is wrong. Every answer is one to a request for one token behind [5,6,7].
#[tokio::test]
async fn bad_answers() {
    let good = good().await;
    let answer = Arc::new(Mutex::new(Vec::new()));
    let given = Arc::clone(&answer);
    let bad = listen(axum::Router::new().fallback(move || {
        let given = given.lock().unwrap().clone();
        async move { given }
    }))
    .await;
    let mut fronts = Vec::new();
    for form in Form::ALL {
        fronts.push([gateway((&bad, form), (&good, Form::SgLang)).await, gateway((&good, Form::SgLang), (&bad, form)).await]);
    }
    let check = async |decode: bool, form: Form, sent: Vec<u8>, says: &str, stream: bool| {
        let (name, shown) = (if decode { "decode" } else { "prefill" }, String::from_utf8_lossy(&sent).into_owned());
        *answer.lock().unwrap() = sent;
        let body = format!(r#"{{"prompt":[5,6,7],"max_tokens":1,"stream":{stream}}}"#);
        let (status, told) = post(&fronts[form as usize][usize::from(decode)], "/v1/completions", body.as_bytes()).await;
        let message = said(status, &told);
        let right = status == 502 && message.starts_with(&format!("the {name} server: ")) && message.contains(says);
        assert!(right, "{name} {form:?}, stream {stream}, {shown}: {status} {message}, want {says}");
    };
    for case in cases("answers", 200) {
        let (form, body, says) =
            (Form::named(case["form"].as_str().unwrap()).unwrap(), case["body"].as_str().unwrap(), case["says"].as_str().unwrap());
        check(false, form, body.into(), says, false).await;
        check(true, form, body.into(), says, false).await;
        match case.get("streamed") {
            Some(Value::Null) => {}
            streamed => check(true, form, format!("data: {body}\n\n").into(), streamed.and_then(Value::as_str).unwrap_or(says), true).await,
        }
    }
    let broken = b"{\"index\":0,\"output_ids\":[3],\"text\":\"\xff\"}".to_vec();
    check(false, Form::SgLang, broken.clone(), "the answer is no UTF-8 at byte 36", false).await;
    check(true, Form::SgLang, [b"data: ", &broken[..], b"\n\n"].concat(), "the answer is no UTF-8 at byte 36", true).await;
    // Two choices, of which one comes twice.
    *answer.lock().unwrap() = br#"{"choices":[{"index":1,"token_ids":[3]},{"index":1,"token_ids":[3]}]}"#.to_vec();
    let (status, told) = post(&fronts[Form::Vllm as usize][1], "/prime", br#"{"prompt":[5],"n":2}"#).await;
    assert_eq!((status, said(status, &told).as_str()), (502, "the decode server: choice 1 came twice"));
}

/// A server's refusal is the client's to know; its failures are not.
#[tokio::test]
async fn statuses_of_servers() {
    let good = good().await;
    for case in cases("statuses", 10) {
        let (status, body) = (StatusCode::from_u16(u16::try_from(case["status"].as_u64().unwrap()).unwrap()).unwrap(), text(&case, "body"));
        let bad = listen(axum::Router::new().fallback(move |request: Request| {
            let body = body.clone();
            async move {
                let _ = request.into_body().collect().await;
                Response::builder().status(status).header("location", "/generate").body(Body::from(body)).unwrap()
            }
        }))
        .await;
        let (good, bad) = (good.as_str(), bad.as_str());
        for (name, stream, prefill, decode) in [("prefill", false, bad, good), ("decode", false, good, bad), ("decode", true, good, bad)] {
            let front = gateway((prefill, Form::SgLang), (decode, Form::SgLang)).await;
            let (came, answer) = post(&front, "/generate", format!(r#"{{"input_ids":[1],"stream":{stream}}}"#).as_bytes()).await;
            let want = format!("the {name} server: {}", case["says"].as_str().unwrap());
            assert_eq!((u64::from(came), said(came, &answer)), (case["want"].as_u64().unwrap(), want), "{status} of {name}, stream {stream}");
        }
    }
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().to_string();
    let front = gateway((&gone, Form::SgLang), (&good, Form::SgLang)).await;
    let (status, answer) = post(&front, "/generate", br#"{"input_ids":[1]}"#).await;
    let message = said(status, &answer);
    assert!(status == 502 && message.starts_with("the prefill server: ") && message.contains("refused"), "{status} {message}");
}

/// What the program says of its options.
#[test]
fn options() {
    const FORMS: &str = ", allowed are sglang, vllm and prime";
    let both = "--prefill http://a:1 --decode http://b:1";
    for (arguments, code, says) in [
        ("", 2, "gateway: a gateway needs --prefill URL\nusage: gateway --role".to_owned()),
        ("--role engine --form x", 2, format!("gateway: --form is \"x\"{FORMS}")),
        ("--role x", 2, "gateway: --role is \"x\", allowed are gateway and engine".to_owned()),
        ("--nothing 1", 2, "gateway: \"--nothing\" is no option".to_owned()),
        ("engine", 2, "gateway: \"engine\" is no option".to_owned()),
        ("--role", 2, "gateway: --role needs a value".to_owned()),
        ("--prefill http://a:1", 2, "gateway: a gateway needs --decode URL".to_owned()),
        ("--prefill a:1 --decode http://b:1", 2, "gateway: --prefill is \"a:1\", allowed is http://HOST:PORT".to_owned()),
        ("--prefill http://a:99999 --decode http://b:1", 2, "gateway: --prefill is \"http://a:99999\", allowed is http://HOST:PORT".to_owned()),
        ("--prefill http://a:1 --decode http://", 2, "gateway: --decode is \"http://\", allowed is http://HOST:PORT".to_owned()),
        ("--prefill http://a:1 --decode https://b:1", 2, "gateway: --decode is \"https://b:1\", allowed is http://HOST:PORT".to_owned()),
        (&format!("{both} --decode-form y"), 2, format!("gateway: --decode-form is \"y\"{FORMS}")),
        (&format!("{both} --form vllm"), 2, "gateway: --form is no option of the role gateway".to_owned()),
        ("--role engine --decode http://b:1", 2, "gateway: --decode is no option of the role engine".to_owned()),
        ("--role engine --listen 1", 2, "gateway: --listen is \"1\", allowed is HOST:PORT with a port of 0 .. 65535".to_owned()),
        ("--role engine --listen 127.0.0.1:70000", 2, "gateway: --listen is \"127.0.0.1:70000\", allowed is HOST:PORT".to_owned()),
        ("--role engine --listen 127.0.0.1:-1", 2, "gateway: --listen is \"127.0.0.1:-1\", allowed is HOST:PORT".to_owned()),
        ("--role engine --listen 192.0.2.1:1", 1, "gateway: --listen 192.0.2.1:1: ".to_owned()),
        ("--help", 0, "usage: gateway --role".to_owned()),
        ("-h", 0, "usage: gateway --role".to_owned()),
        ("--role engine --help", 0, "usage: gateway --role".to_owned()),
    ] {
        let ran = Command::new(env!("CARGO_BIN_EXE_gateway")).args(arguments.split_whitespace()).output().unwrap();
        let (stdout, stderr) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        let (told, other) = if code == 0 { (&stdout, &stderr) } else { (&stderr, &stdout) };
        assert!(ran.status.code() == Some(code) && told.starts_with(&says) && other.is_empty(), "{arguments}: {:?} {stdout} {stderr}", ran.status);
        assert_eq!(told.contains("\nusage: "), code == 2, "{arguments}: {told}");
        for needed in ["--prefill", "--decode-form", "max_tokens is 16", "32768", "4096"] {
            assert!(code != 0 || told.contains(needed), "{arguments} does not tell {needed}");
        }
    }
}
