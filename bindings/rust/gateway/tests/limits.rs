// SPDX-License-Identifier: Apache-2.0

//! Engines that never end and clients that never go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gateway::form::Form;
use gateway::front::{self, Server, Times};
use gateway::{client, engine, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Notify;
use tokio::time::timeout;

#[test]
fn a_number_of_choices() {
    for form in Form::ALL {
        let call = |n: &str| {
            let body = match form {
                Form::SgLang => format!(r#"{{"input_ids":[1,2],"sampling_params":{{"max_new_tokens":3{n}}}}}"#),
                Form::Vllm | Form::Prime => format!(r#"{{"prompt":[1,2],"max_tokens":3{n}}}"#),
            };
            form.read_call(body.as_bytes()).map(|call| call.choices)
        };
        for (n, want) in [("", 1), (r#","n":null"#, 1), (r#","n":1"#, 1), (r#","n":16"#, 16)] {
            assert_eq!(call(n), Ok(want), "{form:?} with '{n}'");
        }
        for n in [0, -1, 17] {
            let name = if form == Form::SgLang { "sampling_params.n" } else { "n" };
            assert_eq!(call(&format!(r#","n":{n}"#)), Err(format!("{name} is {n}, allowed are whole numbers 1 .. 16")), "{form:?}");
        }
    }
}

/// An engine that repeats something until nobody reads it any more, once.
struct Endless {
    address: String,
    wrote: Arc<AtomicUsize>,
    over: Arc<Notify>,
}

impl Endless {
    async fn start(begin: &'static str, repeated: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (wrote, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        let (count, end) = (Arc::clone(&wrote), Arc::clone(&over));
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 4096]).await;
            let repeated = repeated.repeat(1 + 4096 / repeated.len());
            let _ = stream.write_all(format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n{begin}").as_bytes()).await;
            while stream.write_all(repeated.as_bytes()).await.is_ok() {
                count.fetch_add(repeated.len(), Ordering::Relaxed);
            }
            end.notify_one();
        });
        Self { address, wrote, over }
    }
}

async fn listen(router: axum::Router, times: Times) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(serve::serve(listener, router, times));
    address
}

async fn good() -> String {
    listen(engine::router(Form::SgLang), Times::USUAL).await
}

async fn front(prefill: (&str, Form), decode: (&str, Form), times: Times) -> String {
    let server = |(address, form): (&str, Form)| Server { address: address.to_owned(), form };
    listen(front::router(server(prefill), server(decode), times), times).await
}

async fn post(address: &str, path: &str, body: &str) -> (u16, String) {
    let response = client::send(address, path, Some(body.as_bytes().to_vec())).await.unwrap();
    let status = response.status().as_u16();
    let answer = client::whole(response.into_body(), 64 << 20).await.unwrap();
    (status, String::from_utf8_lossy(&answer).into_owned())
}

/// What loopback holds between two processes that nobody has read.
const IN_FLIGHT: usize = 16 << 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_answers_are_cut_off() {
    // 3 rows of the prompt, or 7 of the output, of 6 * 4 ids.
    let prefill = (65536 + 3 * 24 * 11 + 512, "1 choices of 3 rows and 1 tokens take");
    let decode = (65536 + 2 * (7 * 24 * 11 + 8 * 512), "2 choices of 7 rows and 8 tokens take");
    for (name, begin, repeated, stream, (limit, asked)) in [
        ("prefill", r#"{"index":0,"text":""#, "x", false, prefill),
        ("whole", r#"{"choices":["#, " ", false, decode),
        ("a line", "data: ", "x", true, decode),
        ("signs of life", "", ": \n\n", true, decode),
        ("events without choices", "", "data: {\"choices\":[]}\n\n", true, decode),
        ("events without tokens", "", "data: {\"choices\":[{\"index\":1,\"token_ids\":[]}]}\n\n", true, decode),
    ] {
        let endless = Endless::start(begin, repeated).await;
        let good = good().await;
        let front = if name == "prefill" {
            front((&endless.address, Form::SgLang), (&good, Form::SgLang), Times::USUAL).await
        } else {
            front((&good, Form::SgLang), (&endless.address, Form::Vllm), Times::USUAL).await
        };
        let body = format!(r#"{{"prompt":[5,6,7],"max_tokens":8,"n":2,"stream":{stream}}}"#);
        let (status, answer) = timeout(Duration::from_secs(20), post(&front, "/v1/completions", &body)).await.unwrap();
        let end = &answer[answer.len().saturating_sub(300)..];
        assert!(answer.contains(&format!("the answer is longer than the {limit} bytes that {asked}")), "{name}: {status} {end}");
        assert_eq!(status, if name == "events without tokens" { 200 } else { 502 }, "{name}: {end}");
        timeout(Duration::from_secs(10), endless.over.notified()).await.unwrap_or_else(|_| panic!("{name}: the engine is still read"));
        let wrote = endless.wrote.load(Ordering::Relaxed);
        assert!(wrote < limit + IN_FLIGHT, "{name}: {wrote} bytes were taken");
    }
}

async fn connect(address: &str, text: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(address.parse().unwrap()).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

/// What a client is slow with ends its own request, and nobody else's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_clients() {
    let times = Times { request: Duration::from_millis(300), answer: Duration::from_secs(120) };
    let endless = Endless::start("", "data: {\"choices\":[{\"index\":1,\"token_ids\":[]}]}\n\n").await;
    let good = good().await;
    let front = front((&good, Form::SgLang), (&endless.address, Form::Vllm), times).await;
    // A head and a body that do not come.
    for (sent, told) in [
        ("POST /generate HTTP/1.1\r\nHost: gateway\r\nContent-Len", ""),
        ("POST /generate HTTP/1.1\r\nHost: gateway\r\nContent-Length: 1000\r\n\r\n{", "the request did not come in 300ms"),
    ] {
        let mut stream = connect(&front, sent).await;
        let mut answer = String::new();
        let ended = timeout(Duration::from_secs(20), stream.read_to_string(&mut answer)).await;
        assert!(ended.is_ok(), "{sent}: the client is still connected");
        assert!(answer.contains(told) && (told.is_empty() || answer.starts_with("HTTP/1.1 408 ")), "{sent}: {answer}");
    }
    // One that says that it is too large is not waited for.
    let mut stream = connect(&front, "POST /generate HTTP/1.1\r\nHost: gateway\r\nContent-Length: 99999999999999\r\n\r\n{}").await;
    let mut answer = String::new();
    let _ = timeout(Duration::from_secs(20), stream.read_to_string(&mut answer)).await.expect("the client is still connected");
    assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("more than 1048576 bytes"), "{answer}");
    // One that does not read what it gets: 16 choices may take more than the network holds.
    let body = r#"{"prompt":[5,6,7],"max_tokens":4096,"n":16,"stream":true}"#;
    let began = Instant::now();
    let mut stream =
        connect(&front, &format!("POST /v1/completions HTTP/1.1\r\nHost: gateway\r\nContent-Length: {}\r\n\r\n{body}", body.len())).await;
    timeout(Duration::from_secs(110), endless.over.notified()).await.expect("a client that does not read holds the server");
    assert!(began.elapsed() > times.request, "it ended after {:?}", began.elapsed());
    // By then its connection is cut, and what it finds has no end.
    tokio::time::sleep(3 * times.request).await;
    let mut found = Vec::new();
    let _ = timeout(Duration::from_secs(20), stream.read_to_end(&mut found)).await.expect("the connection is still there");
    assert!(!found.is_empty() && !found.ends_with(b"0\r\n\r\n"), "the answer went on");
}

/// A server that is slow with its answer is given up, and the client is told; words of a server's that sound like it are no delay.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_servers() {
    let times = Times { request: Duration::from_millis(100), answer: Duration::from_millis(400) };
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let body = r#"{"input_ids":[1],"sampling_params":{"max_new_tokens":1}}"#;
    let slow = front((&address, Form::SgLang), (&address, Form::SgLang), times).await;
    let (status, answer) = post(&slow, "/generate", body).await;
    assert!(status == 504 && answer.contains("the prefill server: its answer took longer than 400ms"), "{status} {answer}");
    let complaining = axum::Router::new().fallback(|| async { (axum::http::StatusCode::BAD_REQUEST, "the cat did not come home") });
    let address = listen(complaining, Times::USUAL).await;
    let wrong = front((&address, Form::SgLang), (&address, Form::SgLang), Times::USUAL).await;
    let (status, answer) = post(&wrong, "/generate", body).await;
    assert!(status == 400 && answer.contains("it answers 400: the cat did not come home"), "{status} {answer}");
}
