// SPDX-License-Identifier: Apache-2.0

//! The servers' ways of writing requests, answers and rows.

use routecap::{DecodeHints, EncodeOptions, Format, Record};
use serde_json::{Map, Value, json};

/// Experts of the model that all of this is about.
pub const EXPERTS: i32 = 128;
/// Chosen per token.
pub const TOP_K: i32 = 4;
/// Captured layers, from 0.
pub const LAYERS: i32 = 6;

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
            Form::SgLang => ["input_ids", "max_new_tokens", "n", "routed_experts_start_len"],
            Form::Vllm | Form::Prime => ["prompt", "max_tokens", "n", "routed_experts_prompt_start"],
        }
    }

    /// Reads a request, and refuses what no server would do.
    pub fn read_call(self, body: &[u8]) -> Result<Call, Wrong> {
        let read: Value = serde_json::from_slice(body).map_err(|error| format!("the request is no JSON: {error}"))?;
        let [prompt, tokens, choices, start] = self.fields();
        let sampling = if self == Form::SgLang { &read["sampling_params"] } else { &read };
        let number = |value: &Value, name: &str, default: i64| match value {
            Value::Null => Ok(default),
            value => value.as_i64().ok_or_else(|| format!("{name} is {value}, not a number")),
        };
        let prompt: Vec<i64> = match &read[prompt] {
            Value::Array(list) => list.iter().map(|token| number(token, prompt, 0)).collect::<Result<_, _>>()?,
            other => return Err(format!("{prompt} is {other}, not a list of tokens")),
        };
        let max_tokens = number(&sampling[tokens], tokens, 0)?;
        let choices = number(&sampling[choices], choices, 1)?.max(1);
        let start = number(&read[start], start, 0)?;
        if prompt.is_empty() || prompt.len() > 1 << 15 {
            return Err(format!("the prompt has {} tokens, allowed are 1 .. {}", prompt.len(), 1 << 15));
        }
        if !(1..=1 << 12).contains(&max_tokens) {
            return Err(format!("{max_tokens} tokens are asked for, allowed are 1 .. {}", 1 << 12));
        }
        if choices > 16 {
            return Err(format!("{choices} choices are asked for, allowed are 1 .. 16"));
        }
        if start < 0 || start > prompt.len() as i64 {
            return Err(format!("rows are asked for from {start}, allowed are 0 .. {}", prompt.len()));
        }
        Ok(Call {
            prompt,
            max_tokens: max_tokens as usize,
            choices: choices as usize,
            stream: read["stream"].as_bool().unwrap_or(false),
            start,
            fault: read["fault"].as_str().unwrap_or_default().to_owned(),
        })
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

    /// Reads an answer's choices.
    pub fn read_answer(self, body: &[u8]) -> Result<Vec<Choice>, Wrong> {
        let read: Value = serde_json::from_slice(body).map_err(|error| format!("the answer is no JSON: {error}"))?;
        let one = |choice: &Value| {
            let (tokens, meta, start) = match self {
                Form::SgLang => (&choice["output_ids"], &choice["meta_info"], "routed_experts_start_len"),
                Form::Vllm | Form::Prime => (&choice["token_ids"], choice, "routed_experts_prompt_start"),
            };
            let tokens = tokens.as_array().and_then(|list| list.iter().map(Value::as_i64).collect::<Option<Vec<i64>>>());
            Ok(Choice {
                index: choice["index"].as_u64().unwrap_or_default() as usize,
                tokens: tokens.ok_or_else(|| "the answer has no tokens".to_owned())?,
                routing: meta["routed_experts"].clone(),
                start: meta[start].as_i64().unwrap_or_default(),
            })
        };
        match (&read, &read["choices"]) {
            (Value::Array(list), _) | (_, Value::Array(list)) => list.iter().map(one).collect(),
            _ => Ok(vec![one(&read)?]),
        }
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
            (_, other) => return Err(format!("routed_experts is {other}, not a text")),
        };
        let hints = DecodeHints::new().start(start).rows(rows).num_experts(EXPERTS).top_k(TOP_K).num_layers(LAYERS);
        Record::decode(self.wire(), bytes.as_bytes(), &hints).map_err(|error| format!("routecap: {error}"))
    }
}
