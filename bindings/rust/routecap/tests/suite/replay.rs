// SPDX-License-Identifier: Apache-2.0

//! The reference engine's schedule, which the core's tests write (tests/replay/README.md): the same calls must give the same answers here.

use std::collections::HashMap;

use routecap::{
    Accept, Array, BF16, Capture, Capturer, CheckLevel, DType, EncodeOptions, Error, Format, Forward, Output, Read, ReadBuffers, Role, Sealed,
    SlotUnit, Stream, TapFlags, TapId, TapOptions, WeightsKind,
};

use crate::scene::SECOND;

type Words = HashMap<String, String>;

#[derive(Clone)]
struct Line {
    number: usize,
    verb: String,
    given: Words,
    wanted: Words,
}

#[derive(Clone)]
struct Variant {
    index: usize,
    experts: i32,
    factor: i64,
    dtypes: Vec<String>,
}

#[derive(Default)]
struct Script {
    variants: Vec<Variant>,
    /// Lines of each run, `data` among them.
    runs: Vec<Vec<Line>>,
}

impl Line {
    fn number(&self, name: &str) -> i64 {
        self.given.get(name).map_or(0, |text| text.parse().unwrap())
    }

    fn list(&self, name: &str) -> Option<List> {
        let mut parts = self.given.get(name)?.splitn(3, ':');
        let (dtype, memory, list) = (parts.next()?, parts.next()?, parts.next()?);
        Some(List { values: Values::of(dtype, &numbers(list)), device: memory == "device" })
    }
}

fn numbers(text: &str) -> Vec<i64> {
    text.split(',').filter(|number| !number.is_empty()).map(|number| number.parse().unwrap()).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// Numbers of a dtype; what does not fit is cut, as in C.
enum Values {
    UInt8(Vec<u8>),
    UInt16(Vec<u16>),
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float32(Vec<f32>),
    BFloat16(Vec<BF16>),
}

impl Values {
    fn of(dtype: &str, numbers: &[i64]) -> Self {
        match dtype {
            "uint8" => Values::UInt8(numbers.iter().map(|number| *number as u8).collect()),
            "uint16" => Values::UInt16(numbers.iter().map(|number| *number as u16).collect()),
            "int16" => Values::Int16(numbers.iter().map(|number| *number as i16).collect()),
            "int32" => Values::Int32(numbers.iter().map(|number| *number as i32).collect()),
            "int64" => Values::Int64(numbers.to_vec()),
            other => panic!("no dtype {other}"),
        }
    }
}

struct List {
    values: Values,
    device: bool,
}

impl List {
    fn array(&self) -> Array<'_> {
        let array = match &self.values {
            Values::UInt8(list) => Array::new(list),
            Values::UInt16(list) => Array::new(list),
            Values::Int16(list) => Array::new(list),
            Values::Int32(list) => Array::new(list),
            Values::Int64(list) => Array::new(list),
            Values::Float32(list) => Array::new(list),
            Values::BFloat16(list) => Array::new(list),
        };
        // SAFETY: the host backend reads any memory of the process, and the list lives during the call.
        if self.device { unsafe { array.on_device() } } else { array }
    }
}

fn read_script(text: &str) -> Script {
    let mut script = Script::default();
    for (index, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let Some(verb) = words.next().filter(|verb| !verb.starts_with('#')) else { continue };
        let mut line = Line { number: index + 1, verb: verb.to_owned(), given: Words::new(), wanted: Words::new() };
        let mut answered = false;
        for word in words {
            match word.split_once('=') {
                None if word == "->" => answered = true,
                Some((name, value)) => {
                    let into = if answered { &mut line.wanted } else { &mut line.given };
                    into.insert(name.to_owned(), value.to_owned());
                }
                None => panic!("line {}: '{word}'", index + 1),
            }
        }
        match verb {
            "script" => assert_eq!(line.given["version"], "1"),
            "variant" => script.variants.push(Variant {
                index: script.variants.len(),
                experts: line.number("experts") as i32,
                factor: line.number("factor"),
                dtypes: line.given["ids"].split(',').map(str::to_owned).collect(),
            }),
            "run" => script.runs.push(Vec::new()),
            _ => script.runs.last_mut().unwrap().push(line),
        }
    }
    script
}

struct Replay {
    variant: Variant,
    data: HashMap<String, Vec<u8>>,
    capturers: HashMap<String, Sealed>,
    /// Capturer, number and column of a tap.
    taps: HashMap<String, (String, TapId, i64)>,
    outputs: HashMap<String, Output>,
    top_k: usize,
    reads: usize,
    frames: usize,
    faults: Vec<String>,
}

impl Replay {
    fn new(variant: &Variant) -> Self {
        Self {
            variant: variant.clone(),
            data: HashMap::new(),
            capturers: HashMap::new(),
            taps: HashMap::new(),
            outputs: HashMap::new(),
            top_k: 0,
            reads: 0,
            frames: 0,
            faults: Vec::new(),
        }
    }

    fn all(mut self, run: &[Line]) -> Self {
        let mut lines = run.iter();
        while let Some(line) = lines.next() {
            match line.verb.as_str() {
                "data" => {
                    self.data.insert(format!("@{}", line.given["id"]), unhex(&line.given["bytes"]));
                }
                // Models borrow their capturer, which becomes something else by the seal: the set-up is one piece here.
                "capturer_create" => {
                    let setup: Vec<&Line> = lines.by_ref().take_while(|line| line.verb != "seal").collect();
                    self.create(line, &setup);
                }
                _ => self.call(line),
            }
        }
        self
    }

    fn check(&mut self, line: &Line, what: &str, is: &impl ToString, want: &str) {
        if is.to_string() != want {
            self.faults.push(format!("line {}: {}: {what} {want}, is {}", line.number, line.verb, is.to_string()));
        }
    }

    /// Compares a status; the answer if it is OK in both.
    fn answered<T>(&mut self, line: &Line, answer: routecap::Result<T>) -> Option<T> {
        let want = line.wanted.get("status").map_or("OK", String::as_str).to_owned();
        let is = answer.as_ref().err().map_or("OK", |error| error.code().name());
        self.check(line, "status", &is, &want);
        if let (Err(Error::NotReady { sequence, .. }), Some(detail)) = (&answer, line.wanted.get("detail")) {
            self.check(line, "detail", &sequence.unwrap_or(0), &detail.clone());
        }
        answer.ok().filter(|_| want == "OK")
    }

    /// Compares a struct's fields, which print as `name: value`, with what the script says of them.
    fn fields(&mut self, line: &Line, answer: &impl std::fmt::Debug) {
        let shown = format!("{answer:?}");
        for (name, want) in line.wanted.iter().filter(|(name, _)| *name != "status") {
            let found = shown
                .split([' ', ',', '{', '}'])
                .collect::<Vec<_>>()
                .windows(2)
                .find(|pair| pair[0] == format!("{name}:"))
                .map(|pair| pair[1].to_owned());
            let found = found.unwrap_or_else(|| panic!("no field {name} in {shown}"));
            let number = if found.parse::<i64>().is_ok() { found } else { fault_number(&found) };
            self.check(line, name, &number, want);
        }
    }

    fn create(&mut self, line: &Line, setup: &[&Line]) {
        let layers: Vec<i32> = numbers(&line.given["layers"]).into_iter().map(|layer| layer as i32).collect();
        self.top_k = line.number("top_k") as usize;
        let mut builder = Capturer::builder(self.variant.experts, self.top_k as i32, &layers);
        for name in line.given.keys() {
            let number = line.number_or_zero(name);
            builder = match name.as_str() {
                "capturer" | "layers" | "top_k" => builder,
                "fused_shared_experts" => builder.num_fused_shared_experts(number as i32),
                "weights" if line.given[name] == "bfloat16" => builder.weights_dtype(DType::BFloat16),
                "weights" => builder,
                "weights_kind" => builder.weights_kind(WeightsKind::from_raw(number as i32)),
                "check_level" => builder.check_level(CheckLevel::from_raw(number as i32)),
                "pipeline_depth" => builder.pipeline_depth(number as i32),
                "chunked_prefill_size" => builder.chunked_prefill_size(number),
                "max_running_requests" => builder.max_running_requests(number),
                "num_verify_tokens" => builder.num_verify_tokens(number),
                "max_graph_tokens" => builder.max_graph_tokens(number),
                "dp_size" => builder.dp_size(number),
                "attn_tp_size" => builder.attn_tp_size(number),
                "num_slots" => builder.num_slots(number),
                "reserved_slots" => builder.reserved_slots(number),
                other => panic!("line {}: no field {other}", line.number),
            };
        }
        let capturer = builder.create().unwrap();
        let name = &line.given["capturer"];
        {
            let mut models = HashMap::new();
            for line in setup {
                if line.verb == "add_model" {
                    let role = if line.given["role"] == "target" { Role::Target } else { Role::Draft };
                    models.insert(&line.given["model"], capturer.add_model(role, &line.given["name"]).unwrap());
                } else {
                    let options = TapOptions::default().flags(TapFlags::from_bits(line.number("flags") as i32));
                    let id = models[&line.given["model"]].add_tap_with(line.number("layer") as i32, options).unwrap();
                    self.taps.insert(line.given["tap"].clone(), (name.clone(), id, line.number("column")));
                }
            }
        }
        self.capturers.insert(name.clone(), capturer.seal().unwrap());
    }

    fn call(&mut self, line: &Line) {
        match line.verb.as_str() {
            "tap_capture" => self.capture(line),
            "end_forward" => self.end_forward(line),
            "accept" => {
                let (rows, slots) = (line.list("rows").unwrap(), line.list("slots"));
                let mut accept = Accept::new(rows.array());
                if let Some(slots) = &slots {
                    accept = accept.slots(slots.array());
                }
                let answer = self.output(line).accept(&accept);
                self.answered(line, answer);
            }
            "copy_to_host" => {
                let answer = self.output(line).copy_to_host(Stream::DEFAULT);
                self.answered(line, answer);
            }
            "wait" => {
                let answer = self.output(line).wait(10 * SECOND);
                self.answered(line, answer);
            }
            "finalize" => {
                let answer = self.output(line).finalize();
                if let Some(summary) = self.answered(line, answer) {
                    self.fields(line, &summary);
                }
            }
            "output_destroy" => drop(self.outputs.remove(&line.given["output"]).unwrap()),
            "capturer_destroy" => drop(self.capturers.remove(&line.given["capturer"]).unwrap()),
            _ => self.call_capturer(line),
        }
    }

    fn output(&mut self, line: &Line) -> &mut Output {
        self.outputs.get_mut(&line.given["output"]).unwrap()
    }

    fn call_capturer(&mut self, line: &Line) {
        let sealed = &self.capturers[&line.given["capturer"]];
        match line.verb.as_str() {
            "discard_forward" => {
                let answer = sealed.discard_forward(Stream::DEFAULT);
                self.answered(line, answer);
            }
            "release_slots" => {
                let answer = sealed.release_slots(SlotUnit::Slot, line.list("slots").unwrap().array(), Stream::DEFAULT);
                self.answered(line, answer);
            }
            "copy_slots" => {
                let (from, to) = (line.list("from").unwrap(), line.list("to").unwrap());
                let answer = sealed.copy_slots(SlotUnit::Slot, from.array(), to.array(), Stream::DEFAULT);
                self.answered(line, answer);
            }
            "stats" => {
                let answer = sealed.stats();
                if let Some(stats) = self.answered(line, answer) {
                    self.fields(line, &stats);
                }
            }
            "read" => self.read(line),
            "read_into" => self.read_into(line),
            "encode" => {
                let slots = line.list("slots").unwrap();
                let mut frame = Vec::new();
                let answer = sealed.encode_into(&mut frame, &read_of(line, &slots), Format::Frame, &EncodeOptions::new());
                if self.answered(line, answer).is_some() {
                    self.frame(line, &frame);
                }
            }
            other => panic!("line {}: no call {other}", line.number),
        }
    }

    fn capture(&mut self, line: &Line) {
        let (capturer, id, column) = self.taps[&line.given["tap"]].clone();
        let device = line.given["memory"] == "device";
        let ids: Vec<i64> = self.data[&line.given["ids"]].iter().map(|id| i64::from(*id) * self.variant.factor).collect();
        let ids = List { values: Values::of(&self.variant.dtypes[column as usize], &ids), device };
        let weights = line.given.get("weights").map(|name| {
            let bits: Vec<BF16> = self.data[name].chunks_exact(2).map(|two| BF16(u16::from_le_bytes([two[0], two[1]]))).collect();
            let values = if column % 2 == 1 { Values::Float32(bits.iter().map(|bits| bits.to_f32()).collect()) } else { Values::BFloat16(bits) };
            List { values, device }
        });
        let rows = line.given.get("row_ids").map(|rows| List { values: Values::of("int32", &numbers(rows)), device });
        let mut capture = Capture::new(ids.array(), line.number("columns") as i32).tokens(line.number("tokens")).first_row(line.number("first_row"));
        if let Some(weights) = &weights {
            capture = capture.weights(weights.array());
        }
        if let Some(rows) = &rows {
            capture = capture.row_ids(rows.array());
        }
        let answer = self.capturers[&capturer].tap(id).and_then(|mut tap| tap.capture(&capture));
        self.answered(line, answer);
    }

    fn end_forward(&mut self, line: &Line) {
        let (slots, rows) = (line.list("slots"), line.list("rows"));
        let mut forward = Forward::new(line.number("tokens")).first_row(line.number("first_row"));
        if let Some(slots) = &slots {
            forward = forward.slots(slots.array());
        }
        match (line.given["acceptance"].as_str(), &rows) {
            ("given", Some(rows)) => forward = forward.accepted(rows.array()),
            ("later", _) => forward = forward.accepted_later(),
            _ => {}
        }
        forward = forward.groups(line.number("groups")).group_width(line.number("group_width"));
        forward = forward.slots_group_stride(line.number("slots_group_stride")).rows_group_stride(line.number("rows_group_stride"));
        let answer = self.capturers[&line.given["capturer"]].end_forward(&forward);
        if let Some(output) = self.answered(line, answer) {
            self.check(line, "sequence", &output.sequence(), &line.wanted["sequence"].clone());
            self.outputs.insert(line.given["output"].clone(), output);
        }
    }

    fn read(&mut self, line: &Line) {
        let slots = line.list("slots").unwrap();
        let answer = self.capturers[&line.given["capturer"]].read(&read_of(line, &slots));
        let Some(record) = self.answered(line, answer) else { return };
        self.frame(line, &record.to_frame().unwrap());
        self.check(line, "row_validity", &hex(record.row_validity()), &line.wanted["row_validity"]);
        self.check(line, "cell_validity", &hex(record.cell_validity()), &line.wanted["cell_validity"]);
        let weights = record.weights_as::<BF16>().map(|weights| weights.to_vec()).unwrap_or_default();
        let info = record.info();
        self.rows(line, [info.start, info.rows, info.rows_valid], &record.to_i32(), &weights);
    }

    fn read_into(&mut self, line: &Line) {
        let slots = line.list("slots").unwrap();
        let (read, sealed) = (read_of(line, &slots), &self.capturers[&line.given["capturer"]]);
        let needs = match sealed.read_needs(&read) {
            Ok(needs) => needs,
            Err(error) => {
                self.answered::<()>(line, Err(error));
                return;
            }
        };
        let elements = needs.ids_bytes as usize;
        let (mut narrow, mut middle, mut wide) = (vec![0_u8; elements], vec![0_u16; elements / 2], vec![0_i32; elements / 4]);
        let mut weights = vec![BF16(0); needs.weights_bytes as usize / 2];
        let mut validity = vec![0; (needs.row_validity_bytes + needs.cell_validity_bytes) as usize];
        let buffers = match needs.ids_dtype {
            DType::UInt8 => ReadBuffers::new(&mut narrow),
            DType::UInt16 => ReadBuffers::new(&mut middle),
            _ => ReadBuffers::new(&mut wide),
        };
        let mut buffers = buffers.validity(&mut validity);
        if !weights.is_empty() {
            buffers = buffers.weights(&mut weights);
        }
        let answer = sealed.read_into(&read, buffers);
        let Some(info) = self.answered(line, answer) else { return };
        let (rows, cells) = validity.split_at(info.row_validity_bytes as usize);
        self.check(line, "row_validity", &hex(rows), &line.wanted["row_validity"]);
        self.check(line, "cell_validity", &hex(cells), &line.wanted["cell_validity"]);
        // All ones is what a missing cell holds, in any dtype.
        let ids: Vec<i32> = match info.ids_dtype {
            DType::UInt8 => narrow.iter().map(|id| if *id == u8::MAX { -1 } else { i32::from(*id) }).collect(),
            DType::UInt16 => middle.iter().map(|id| if *id == u16::MAX { -1 } else { i32::from(*id) }).collect(),
            _ => wide,
        };
        self.rows(line, [info.start, info.rows, info.rows_valid], &ids, &weights);
    }

    fn rows(&mut self, line: &Line, counts: [i64; 3], ids: &[i32], weights: &[BF16]) {
        self.reads += 1;
        for (name, count) in ["start", "rows", "valid"].into_iter().zip(counts) {
            self.check(line, name, &count, &line.wanted[name]);
        }
        let cells = unhex(&line.wanted["cell_validity"]);
        let want: Vec<i32> = unhex(&line.wanted["ids"])
            .iter()
            .enumerate()
            .map(|(at, id)| {
                let cell = at / self.top_k;
                let missing = cells.get(cell / 8).is_some_and(|bits| bits >> (cell % 8) & 1 == 0);
                if missing { -1 } else { i32::from(*id) * self.variant.factor as i32 }
            })
            .collect();
        if ids != want {
            self.faults.push(format!("line {}: {}: ids {}, is {ids:?}", line.number, line.verb, line.wanted["ids"]));
        }
        let bytes: Vec<u8> = weights.iter().flat_map(|weight| weight.0.to_le_bytes()).collect();
        self.check(line, "weights", &hex(&bytes), line.wanted.get("weights").map_or("", String::as_str));
    }

    fn frame(&mut self, line: &Line, frame: &[u8]) {
        self.frames += 1;
        let want = line.wanted["frames"].split(',').nth(self.variant.index).unwrap().to_owned();
        self.check(line, "frame", &format!("{:08x}", crc32(frame)), &want);
    }
}

impl Line {
    /// What is no number is a word for another field.
    fn number_or_zero(&self, name: &str) -> i64 {
        self.given[name].parse().unwrap_or(0)
    }
}

/// A summary's fault has a name here and a number in the script.
fn fault_number(name: &str) -> String {
    let found = routecap::Fault::ALL.iter().find(|fault| format!("{fault:?}") == name);
    found.unwrap_or_else(|| panic!("no fault {name}")).raw().to_string()
}

fn read_of<'a>(line: &Line, slots: &'a List) -> Read<'a> {
    let read = Read::new(slots.array(), line.number("tokens")).after_sequence(line.number("after"));
    if line.number("flags") == 0 { read } else { read.include_last() }
}

/// IEEE 802.3, as of zlib.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 }))
}

/// The script stands in the project's tree; a crate's user does not have it.
fn script() -> Option<Script> {
    let source = std::env::var("ROUTECAP_SOURCE").ok()?;
    let path = std::path::Path::new(&source).join("tests/replay/reference_engine.script");
    Some(read_script(&std::fs::read_to_string(path).unwrap()))
}

#[test]
fn replay_of_the_reference_engine() {
    let Some(script) = script() else { return };
    assert_eq!((script.variants.len(), script.runs.len()), (3, 2));
    for variant in &script.variants {
        for run in &script.runs {
            let replay = Replay::new(variant).all(run);
            assert!(replay.faults.is_empty(), "{} experts: {:#?}", variant.experts, &replay.faults[..replay.faults.len().min(5)]);
            assert!(replay.reads >= 8 && replay.frames >= 8, "{} reads, {} frames", replay.reads, replay.frames);
        }
    }
}

/// A replay that finds nothing must be one that could.
#[test]
fn a_replay_finds_what_differs() {
    let Some(script) = script() else { return };
    let changes = [
        ("end_forward", "sequence", "77"),
        ("finalize", "rows_stored", "1000"),
        ("stats", "suppressed", "1000"),
        ("read", "frames", "00000000,00000000,00000000"),
        ("read", "row_validity", "0000"),
        ("read_into", "cell_validity", "00"),
        ("read_into", "ids", "00"),
        ("encode", "status", "BUSY"),
    ];
    for (verb, word, value) in changes {
        let mut run = script.runs[0].clone();
        let line = run.iter_mut().find(|line| line.verb == verb && line.wanted.contains_key(word)).unwrap();
        line.wanted.insert(word.to_owned(), value.to_owned());
        let faults = Replay::new(&script.variants[0]).all(&run).faults;
        let first = faults.first().map_or("", String::as_str);
        let shown = if word == "frames" { "frame 00000000" } else { &format!("{word} {value}") };
        assert!(first.contains(shown), "{verb} {word}: {faults:?}");
    }
}
