// SPDX-License-Identifier: Apache-2.0

//! The gateway between engines in processes of their own, over loopback.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gateway::client;
use gateway::engine::{routes_of, tokens_of};
use gateway::form::{Call, Choice, Form, LAYERS, TOP_K};
use gateway::front::{MAX_BODY, Times};
use serde_json::Value;

/// A process of the example, ended with the test.
struct Process {
    child: Child,
    address: String,
}

impl Process {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_gateway")).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Self { child, address: address.trim().to_owned() }
    }

    fn engine(form: Form) -> Self {
        Self::start(&["--role", "engine", "--form", form.name()])
    }

    fn gateway(prefill: &Process, prefill_form: Form, decode: &Process, decode_form: Form) -> Self {
        Self::before(&prefill.address, prefill_form, &decode.address, decode_form)
    }

    fn before(prefill: &str, prefill_form: Form, decode: &str, decode_form: Form) -> Self {
        let (prefill, decode) = (format!("http://{prefill}"), format!("http://{decode}"));
        let forms = ["--prefill-form", prefill_form.name(), "--decode-form", decode_form.name()];
        Self::start(&[&["--role", "gateway", "--prefill", &prefill, "--decode", &decode][..], &forms].concat())
    }

    /// Resident memory in KiB.
    fn resident(&self) -> i64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn call(&mut self) -> Call {
        Call {
            prompt: (0..=self.below(60)).map(|_| self.below(50_000) as i64).collect(),
            max_tokens: 1 + self.below(20) as usize,
            choices: 1 + self.below(3) as usize,
            stream: self.below(2) == 1,
            start: 0,
            fault: String::new(),
        }
    }
}

async fn post(address: &str, path: &str, body: Vec<u8>) -> Result<(u16, Vec<u8>), String> {
    let response = client::send(address, path, Some(body)).await?;
    let status = response.status().as_u16();
    let answer = client::whole(response.into_body(), 64 << 20).await.map_err(|failed| format!("{failed:?}"))?;
    Ok((status, answer.to_vec()))
}

/// An answer's choices in the order they came: of a stream, its events'.
fn parts(form: Form, call: &Call, answer: &[u8]) -> Result<Vec<Choice>, String> {
    if !call.stream {
        return form.read_answer(answer);
    }
    let mut all = Vec::new();
    for event in String::from_utf8_lossy(answer).trim().split("\n\n") {
        match event.trim_start_matches("data: ") {
            "[DONE]" => return Ok(all),
            data => all.extend(form.read_answer(data.as_bytes()).map_err(|wrong| format!("{wrong}: {data}"))?),
        }
    }
    Err(format!("no end: {}", String::from_utf8_lossy(answer)))
}

/// Compares every choice's tokens and rows with what the engines must have computed.
fn verify(form: Form, call: &Call, answer: &[u8]) -> Result<(), String> {
    let came = parts(form, call, answer)?;
    let cells = (LAYERS * TOP_K) as usize;
    for index in 0..call.choices {
        let output = tokens_of(&call.prompt, index, call.max_tokens);
        let inputs = [&call.prompt[..], &output[..output.len() - 1]].concat();
        let (mut tokens, mut ids) = (Vec::new(), Vec::new());
        for part in came.iter().filter(|part| part.index == index) {
            tokens.extend_from_slice(&part.tokens);
            if part.routing == Value::Null {
                continue;
            }
            if part.start != (ids.len() / cells) as i64 {
                return Err(format!("choice {index}: a part starts at {} behind {} rows", part.start, ids.len() / cells));
            }
            let rows = (call.prompt.len() + tokens.len() - 1) as i64 - part.start;
            ids.extend(form.decode_rows(&part.routing, part.start, rows)?.to_i32());
        }
        let want: Vec<i32> = routes_of(&inputs, 0).into_iter().map(i32::from).collect();
        if tokens != output || ids != want {
            return Err(format!(
                "choice {index}: {} tokens and {} ids, want {} and {}; or others",
                tokens.len(),
                ids.len(),
                output.len(),
                want.len()
            ));
        }
    }
    Ok(())
}

#[tokio::test]
async fn every_pair_of_forms() {
    let engines = Form::ALL.map(Process::engine);
    let mut random = Random(3);
    for (prefill, prefill_form) in engines.iter().zip(Form::ALL) {
        for (decode, decode_form) in engines.iter().zip(Form::ALL) {
            let front = Process::gateway(prefill, prefill_form, decode, decode_form);
            for form in Form::ALL {
                for _ in 0..8 {
                    let call = random.call();
                    let (status, answer) = post(&front.address, form.path(), form.write_call(&call).to_string().into_bytes()).await.unwrap();
                    assert_eq!(status, 200, "{prefill_form:?}, {decode_form:?} to {form:?}: {}", String::from_utf8_lossy(&answer));
                    verify(form, &call, &answer)
                        .unwrap_or_else(|wrong| panic!("{prefill_form:?}, {decode_form:?} to {form:?}, stream {}: {wrong}", call.stream));
                }
            }
        }
    }
}

/// An event without choices (usage counts, or a sign of life) before every event of a streamed answer changes nothing of what the client gets.
#[tokio::test]
async fn events_without_choices() {
    let prefill = Process::engine(Form::SgLang);
    for form in Form::ALL {
        let empty = match form {
            Form::SgLang => "[]",
            Form::Vllm => r#"{"choices":[],"usage":{"total_tokens":7}}"#,
            Form::Prime => r#"{"choices":[]}"#,
        };
        let engine = Process::engine(form);
        let behind: Arc<str> = engine.address.as_str().into();
        let padded = axum::Router::new().fallback(move |request: axum::extract::Request| async move {
            let path = request.uri().path().to_owned();
            let body = axum::body::to_bytes(request.into_body(), MAX_BODY).await.unwrap();
            let (_, answer) = post(&behind, &path, body.to_vec()).await.unwrap();
            String::from_utf8(answer).unwrap().replace("data: ", &format!("data: {empty}\n\ndata: "))
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move { axum::serve(listener, padded).await });
        let plain = Process::gateway(&prefill, Form::SgLang, &engine, form);
        let front = Process::before(&prefill.address, Form::SgLang, &address, form);
        for client in Form::ALL {
            for choices in 1..=2 {
                let call = Call { prompt: vec![5, 6, 7], max_tokens: 8, choices, stream: true, start: 0, fault: String::new() };
                let body = client.write_call(&call).to_string().into_bytes();
                let (_, want) = post(&plain.address, client.path(), body.clone()).await.unwrap();
                let (status, answer) = post(&front.address, client.path(), body).await.unwrap();
                let shown = String::from_utf8_lossy(&answer);
                assert_eq!((status, &answer), (200, &want), "{form:?} to {client:?}, {choices} choices: {shown}");
                verify(client, &call, &answer).unwrap_or_else(|wrong| panic!("{form:?} to {client:?}, {choices} choices: {wrong}"));
            }
        }
    }
}

/// Sends a good or a bad request and checks what comes back.
async fn one_request(address: &str, random: &mut Random) -> Result<(), String> {
    let form = Form::ALL[random.below(3) as usize];
    let mut call = random.call();
    // What a bad answer of an engine must say, and never what a neighbour's does.
    let faults =
        [("truncated", "routecap: "), ("base64", "routecap: "), ("huge", "routecap: "), ("absent", "no routed_experts"), ("body", "no JSON")];
    let (mut want, mut text) = (200, "");
    let kind = random.below(10);
    if kind == 0 {
        let (fault, says) = faults[random.below(5) as usize];
        (call.fault, call.stream) = (fault.to_owned(), false);
        (want, text) = (502, says);
    }
    if kind == 3 {
        call.max_tokens = 1 << 30;
        (want, text) = (400, "tokens is 1073741824, allowed are whole numbers 1 .. 4096");
    }
    let mut body = form.write_call(&call).to_string().into_bytes();
    if kind == 1 {
        body.truncate(body.len() / 2);
        (want, text) = (400, "no JSON");
    }
    if kind == 2 {
        body = vec![b'['; MAX_BODY + 1];
        (want, text) = (413, "too large");
    }
    let (status, answer) = post(address, form.path(), body).await?;
    let shown = String::from_utf8_lossy(&answer);
    if status != want || !shown.contains(text) {
        return Err(format!("fault '{}', kind {kind}: status {status}, want {want} with '{text}': {shown:.300}", call.fault));
    }
    if want == 200 { verify(form, &call, &answer) } else { Ok(()) }
}

async fn load(address: &Arc<str>, workers: u64, requests: u64) {
    let tasks: Vec<_> = (0..workers)
        .map(|worker| {
            let address = Arc::clone(address);
            tokio::spawn(async move {
                let mut random = Random(worker);
                for request in 0..requests {
                    let began = Instant::now();
                    one_request(&address, &mut random).await.unwrap_or_else(|wrong| panic!("worker {worker}, request {request}: {wrong}"));
                    assert!(began.elapsed() < Times::USUAL.answer / 2, "a request took {:?}", began.elapsed());
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn load_with_bad_requests_and_bad_answers() {
    let (prefill, decode) = (Process::engine(Form::SgLang), Process::engine(Form::Vllm));
    let front = Process::gateway(&prefill, Form::SgLang, &decode, Form::Vllm);
    let address: Arc<str> = front.address.as_str().into();
    let (workers, requests) = (64, 25);
    // The same load twice: what the first leaves behind is warmth, what the second adds is a leak.
    load(&address, workers, requests).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let before = front.resident();
    load(&address, workers, requests).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let after = front.resident();
    assert!(after < before + 32 * 1024, "{before} KiB, then {after} KiB");
    let said = client::whole(client::send(&address, "/stats", None).await.unwrap().into_body(), 1 << 16).await.unwrap();
    let said: Value = serde_json::from_slice(&said).unwrap();
    assert_eq!(said["requests"], 2 * workers * requests);
    for count in ["streams", "rows", "bad_requests", "bad_upstreams"] {
        assert!(said[count].as_i64().unwrap() > 0, "{said}");
    }
}
