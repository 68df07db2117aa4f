// SPDX-License-Identifier: Apache-2.0

//! The servers' ways of writing requests, answers and rows.

use routecap::{DecodeHints, EncodeOptions, Format, Record};
use serde_json::{Map, Value, json};

use crate::members::{LARGEST, Members, clipped, parsed, shown};

/// Experts of the model that all of this is about.
pub const EXPERTS: i32 = 128;
/// Chosen per token.
pub const TOP_K: i32 = 4;
/// Captured layers, from 0.
pub const LAYERS: i32 = 6;

/// What a request may ask for.
const LONGEST_PROMPT: usize = 1 << 15;
const MOST_TOKENS: i64 = 1 << 12;
const MOST_CHOICES: i64 = 16;

/// What a stand-in engine can be asked to do wrong; nothing is right.
const FAULTS: [&str; 6] = ["", "truncated", "base64", "huge", "absent", "body"];

/// What is wrong, in words.
pub type Wrong = String;

/// A request in nobody's form.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Tokens of the prompt.
    pub prompt: Vec<i64>,
    /// Output tokens of a choice.
    pub max_tokens: usize,
    /// Choices.
    pub choices: usize,
    /// Whether the answer is a stream of events.
    pub stream: bool,
    /// Token position of the first row that is wanted.
    pub start: i64,
    /// Asks a stand-in engine to answer wrongly; a real one knows no such thing.
    pub fault: String,
}

// What an answer may have in bytes follows from what was asked for: an id is at most an i64 in base64, a token has its number and what stands around it,
// and an envelope is short.
const BYTES_PER_ID: usize = 11;
const BYTES_PER_TOKEN: usize = 512;
const BYTES_AROUND: usize = 64 << 10;

impl Call {
    /// How many rows a choice's answer has.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.prompt.len() - self.start as usize + self.max_tokens - 1
    }

    /// The most bytes that an answer can have, whole or as a stream. No server makes the gateway hold more.
    #[must_use]
    pub fn longest_answer(&self) -> usize {
        BYTES_AROUND + self.choices * (self.rows() * (LAYERS * TOP_K) as usize * BYTES_PER_ID + self.max_tokens * BYTES_PER_TOKEN)
    }

    /// What is said of one that has more.
    pub(crate) fn too_long(&self) -> Wrong {
        let (most, rows) = (self.longest_answer(), self.rows());
        format!("the answer is longer than the {most} bytes that {} choices of {rows} rows and {} tokens take", self.choices, self.max_tokens)
    }
}

/// A part of an answer: output tokens and the rows that came with them.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Which one.
    pub index: usize,
    /// Its tokens, or some of them.
    pub tokens: Vec<i64>,
    /// Its rows as the form writes them, or null.
    pub routing: Value,
    /// Token position of the first row.
    pub start: i64,
}

/// A server's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `SGLang`'s `/generate`.
    SgLang,
    /// vLLM's completions.
    Vllm,
    /// The same with prime's object for the rows.
    Prime,
}

impl Form {
    /// All of them.
    pub const ALL: [Form; 3] = [Form::SgLang, Form::Vllm, Form::Prime];

    /// By its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Form> {
        Form::ALL.into_iter().find(|form| form.name() == name)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        ["sglang", "vllm", "prime"][self as usize]
    }

    /// Where requests go.
    #[must_use]
    pub fn path(self) -> &'static str {
        ["/generate", "/v1/completions", "/prime"][self as usize]
    }

    fn wire(self) -> Format {
        [Format::SgLang, Format::Vllm, Format::Prime][self as usize]
    }

    /// Whether a stream carries each delta's rows with it; otherwise all rows of a choice come with its last part.
    #[must_use]
    pub fn streams_rows(self) -> bool {
        self != Form::Vllm
    }

    /// Names of the fields that a request has in this form: prompt, tokens, choices, start.
    fn fields(self) -> [&'static str; 4] {
        match self {
            Form::SgLang => ["input_ids", "max_new_tokens", "n", self.start_name()],
            Form::Vllm | Form::Prime => ["prompt", "max_tokens", "n", self.start_name()],
        }
    }

    /// The field that says from where rows are wanted, or begin.
    #[must_use]
    pub fn start_name(self) -> &'static str {
        if self == Form::SgLang { "routed_experts_start_len" } else { "routed_experts_prompt_start" }
    }

    /// Reads a request, and refuses what no server would do. Fields that it does not know are the servers' business.
    pub fn read_call(self, body: &[u8]) -> Result<Call, Wrong> {
        let value = parsed("request", body)?;
        let read = Members::of("the request", String::new(), &value)?;
        let [prompt, tokens, choices, start] = self.fields();
        // Where no tokens are asked for, as many as the server itself takes then.
        let (nested, otherwise) = if self == Form::SgLang { (Some(read.object("sampling_params")?), 128) } else { (None, 16) };
        let sampling = nested.as_ref().unwrap_or(&read);
        let prompt = read.tokens(prompt, &(1..=LONGEST_PROMPT))?;
        let max_tokens = sampling.whole(tokens, &(1..=MOST_TOKENS), otherwise)? as usize;
        let choices = sampling.whole(choices, &(1..=MOST_CHOICES), 1)? as usize;
        let stream = read.flag("stream")?;
        let start = read.whole(start, &(0..=prompt.len() as i64), 0)?;
        read.flag("return_routed_experts")?;
        let fault = read.text("fault")?;
        if !FAULTS.contains(&fault) {
            return Err(format!("fault is {:?}, allowed are {}", clipped(fault), FAULTS[1..].join(", ")));
        }
        Ok(Call { prompt, max_tokens, choices, stream, start, fault: fault.to_owned() })
    }

    /// Writes a request.
    #[must_use]
    pub fn write_call(self, call: &Call) -> Value {
        let [prompt, tokens, choices, start] = self.fields();
        let mut written = Map::new();
        let mut sampling = Map::new();
        sampling.insert(tokens.to_owned(), call.max_tokens.into());
        sampling.insert(choices.to_owned(), call.choices.into());
        written.insert(prompt.to_owned(), call.prompt.clone().into());
        written.insert("stream".to_owned(), call.stream.into());
        written.insert(start.to_owned(), call.start.into());
        written.insert("fault".to_owned(), call.fault.clone().into());
        if self == Form::SgLang {
            written.insert("return_routed_experts".to_owned(), true.into());
            written.insert("sampling_params".to_owned(), sampling.into());
        } else {
            written.extend(sampling);
        }
        written.into()
    }

    /// Reads an answer's choices: of a list, or of one. A choice that does not say which one it is has its place in the list.
    pub fn read_answer(self, body: &[u8]) -> Result<Vec<Choice>, Wrong> {
        let value = parsed("answer", body)?;
        let whole = || Members::of("the answer", String::new(), &value);
        let (before, list) = match (self, &value) {
            (Form::SgLang, Value::Array(list)) => ("", list.as_slice()),
            (Form::SgLang, Value::Object(_)) => return Ok(vec![self.read_choice(0, &whole()?)?]),
            (Form::SgLang, other) => return Err(format!("the answer is {}, not an object or a list", shown(other))),
            (Form::Vllm | Form::Prime, _) => ("choices", whole()?.list("choices")?),
        };
        let one = |(at, value): (usize, &Value)| {
            let name = format!("{before}[{at}]");
            self.read_choice(at, &Members::of(&name, format!("{name}."), value)?)
        };
        list.iter().enumerate().map(one).collect()
    }

    fn read_choice(self, at: usize, read: &Members<'_>) -> Result<Choice, Wrong> {
        let (tokens, nested) = if self == Form::SgLang { ("output_ids", Some(read.object("meta_info")?)) } else { ("token_ids", None) };
        let meta = nested.as_ref().unwrap_or(read);
        Ok(Choice {
            index: read.whole("index", &(0..=MOST_CHOICES - 1), at as i64)? as usize,
            tokens: read.tokens(tokens, &(0..=MOST_TOKENS as usize))?,
            routing: meta.rows("routed_experts", self == Form::Prime)?,
            start: meta.whole(self.start_name(), &(0..=LARGEST), 0)?,
        })
    }

    /// Writes an answer of these choices.
    #[must_use]
    pub fn write_answer(self, choices: &[Choice], call: &Call) -> Value {
        let write = |choice: &Choice| match self {
            Form::SgLang => json!({
                "index": choice.index,
                "output_ids": choice.tokens,
                "meta_info": {
                    "prompt_tokens": call.prompt.len(),
                    "completion_tokens": choice.tokens.len(),
                    "routed_experts": choice.routing,
                    "routed_experts_start_len": choice.start,
                },
            }),
            Form::Vllm | Form::Prime => json!({
                "index": choice.index,
                "token_ids": choice.tokens,
                "routed_experts": choice.routing,
                "routed_experts_prompt_start": choice.start,
            }),
        };
        let written: Vec<Value> = choices.iter().map(write).collect();
        match self {
            Form::SgLang if written.len() == 1 => written.into_iter().next().unwrap_or_default(),
            Form::SgLang => written.into(),
            Form::Vllm | Form::Prime => json!({ "choices": written }),
        }
    }

    /// A record as the value of a JSON field.
    pub fn encode_rows(self, record: &Record) -> Result<Value, Wrong> {
        let bytes = record.encode(self.wire(), &EncodeOptions::new()).map_err(|error| error.to_string())?;
        if self == Form::Prime {
            return serde_json::from_slice(&bytes).map_err(|error| error.to_string());
        }
        Ok(String::from_utf8_lossy(&bytes).into())
    }

    /// Reads a JSON field, and refuses what is not rows `start .. start + rows` of this model.
    pub fn decode_rows(self, field: &Value, start: i64, rows: i64) -> Result<Record, Wrong> {
        let bytes = match (self, field) {
            (_, Value::Null) => return Err("the answer has no routed_experts".to_owned()),
            (Form::Prime, object) => object.to_string(),
            (_, Value::String(text)) => text.clone(),
            (_, other) => return Err(format!("routed_experts is {}, not a text", shown(other))),
        };
        let hints = DecodeHints::new().start(start).rows(rows).num_experts(EXPERTS).top_k(TOP_K).num_layers(LAYERS);
        Record::decode(self.wire(), bytes.as_bytes(), &hints).map_err(|error| format!("routecap: {error}"))
    }
}
