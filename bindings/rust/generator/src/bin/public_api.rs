// SPDX-License-Identifier: Apache-2.0

//! `public_api RUSTDOC_JSON`: what a crate offers, one line a thing, sorted, from rustdoc's JSON. It names what users of the crate can name, with the types
//! in signatures, so that a change of it shows as a difference.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::ExitCode;

use serde_json::Value;

struct Docs {
    root: Value,
    lines: BTreeSet<String>,
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// The one key and value of an enum in JSON.
fn only(value: &Value) -> (&str, &Value) {
    match value {
        Value::Object(map) => map.iter().next().map_or(("", &Value::Null), |(key, value)| (key.as_str(), value)),
        Value::String(name) => (name, &Value::Null),
        _ => ("", &Value::Null),
    }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn joined(list: &[Value], write: impl Fn(&Value) -> String) -> String {
    list.iter().map(write).collect::<Vec<_>>().join(", ")
}

fn type_of(value: &Value) -> String {
    let (kind, inner) = only(value);
    let pointee = |prefix: &str, mutable: &str| {
        let is_mutable = inner["is_mutable"].as_bool().unwrap_or_default();
        format!("{prefix}{}{}", if is_mutable { "mut " } else { mutable }, type_of(&inner["type"]))
    };
    match kind {
        "" => "()".to_owned(),
        "primitive" | "generic" => inner.as_str().unwrap_or_default().to_owned(),
        "resolved_path" => path_of(inner),
        "borrowed_ref" => {
            let lifetime = inner["lifetime"].as_str().map_or(String::new(), |name| format!("{name} "));
            pointee(&format!("&{lifetime}"), "")
        }
        "raw_pointer" => pointee("*", "const "),
        "slice" => format!("[{}]", type_of(inner)),
        "array" => format!("[{}; {}]", type_of(&inner["type"]), text(inner, "len")),
        "tuple" => format!("({})", joined(items(inner), type_of)),
        "impl_trait" => format!("impl {}", bounds(inner)),
        "dyn_trait" => format!("dyn {}", joined(items(&inner["traits"]), |one| path_of(&one["trait"]))),
        "qualified_path" => format!("<{} as {}>::{}", type_of(&inner["self_type"]), path_of(&inner["trait"]), text(inner, "name")),
        "function_pointer" => format!("fn{}", signature(&inner["sig"])),
        other => other.to_owned(),
    }
}

fn path_of(path: &Value) -> String {
    let name = path["path"].as_str().or_else(|| path["name"].as_str()).unwrap_or_default();
    let name = name.rsplit("::").next().unwrap_or_default();
    let (_, arguments) = only(&path["args"]);
    let mut written: Vec<String> = items(&arguments["args"])
        .iter()
        .map(|one| match only(one) {
            ("lifetime", name) => name.as_str().unwrap_or_default().to_owned(),
            ("type", inner) => type_of(inner),
            ("const", inner) => text(inner, "expr").to_owned(),
            (other, _) => other.to_owned(),
        })
        .collect();
    written.extend(
        items(&arguments["constraints"]).iter().map(|one| format!("{} = {}", text(one, "name"), type_of(&one["binding"]["equality"]["type"]))),
    );
    if written.is_empty() { name.to_owned() } else { format!("{name}<{}>", written.join(", ")) }
}

fn bounds(list: &Value) -> String {
    let bound = |one: &Value| match only(one) {
        ("trait_bound", inner) => Some(path_of(&inner["trait"])),
        ("outlives", name) => Some(name.as_str().unwrap_or_default().to_owned()),
        _ => None,
    };
    items(list).iter().filter_map(bound).collect::<Vec<_>>().join(" + ")
}

fn generics(value: &Value) -> String {
    let parameter = |one: &Value| {
        let (kind, inner) = only(&one["kind"]);
        let bound = match kind {
            "type" if inner["is_synthetic"].as_bool().unwrap_or_default() => return None,
            "type" => bounds(&inner["bounds"]),
            "const" => type_of(&inner["type"]),
            _ => String::new(),
        };
        Some(if bound.is_empty() { text(one, "name").to_owned() } else { format!("{}: {bound}", text(one, "name")) })
    };
    let parameters: Vec<String> = items(&value["params"]).iter().filter_map(parameter).collect();
    if parameters.is_empty() { String::new() } else { format!("<{}>", parameters.join(", ")) }
}

fn signature(value: &Value) -> String {
    let inputs = joined(items(&value["inputs"]), |one| match one[0].as_str() {
        Some("self") => match type_of(&one[1]).as_str() {
            "Self" => "self".to_owned(),
            "&Self" => "&self".to_owned(),
            "&mut Self" => "&mut self".to_owned(),
            other => format!("self: {other}"),
        },
        Some(name) => format!("{name}: {}", type_of(&one[1])),
        None => type_of(one),
    });
    let output = if value["output"].is_null() { String::new() } else { format!(" -> {}", type_of(&value["output"])) };
    format!("({inputs}){output}")
}

impl Docs {
    fn item(&self, id: &Value) -> Value {
        self.root["index"][id.to_string().trim_matches('"')].clone()
    }

    fn line(&mut self, line: String) {
        self.lines.insert(line);
    }

    /// A hidden field is null.
    fn walk_all(&mut self, list: &Value, path: &str) {
        for id in items(list).iter().filter(|id| !id.is_null()) {
            self.walk(path, id);
        }
    }

    fn walk(&mut self, path: &str, id: &Value) {
        let item = self.item(id);
        let (kind, inner) = only(&item["inner"]);
        let own = text(&item, "name");
        let name = if path.is_empty() { own.to_owned() } else { format!("{path}::{own}") };
        let attributes = item["attrs"].to_string();
        let open = if attributes.contains("non_exhaustive") { " #[non_exhaustive]" } else { "" };
        match kind {
            "module" => self.walk_all(&inner["items"], &name),
            "use" => self.walk_use(path, inner),
            "function" => {
                let header = &inner["header"];
                let mut words = String::new();
                for (key, word) in [("is_const", "const "), ("is_async", "async "), ("is_unsafe", "unsafe ")] {
                    if header[key].as_bool().unwrap_or_default() {
                        words.push_str(word);
                    }
                }
                self.line(format!("{words}fn {name}{}{}", generics(&inner["generics"]), signature(&inner["sig"])));
            }
            "struct" => {
                self.line(format!("struct {name}{}{open}", generics(&inner["generics"])));
                let (shape, fields) = only(&inner["kind"]);
                let fields = if shape == "tuple" { fields } else { &fields["fields"] };
                self.walk_all(fields, &name);
                self.impls(&name, inner);
            }
            "struct_field" => self.line(format!("field {name}: {}", type_of(inner))),
            "enum" => {
                self.line(format!("enum {name}{}{open}", generics(&inner["generics"])));
                self.walk_all(&inner["variants"], &name);
                self.impls(&name, inner);
            }
            "variant" => {
                self.line(format!("variant {name}{open}"));
                let (shape, fields) = only(&inner["kind"]);
                let fields = if shape == "tuple" { fields } else { &fields["fields"] };
                self.walk_all(fields, &name);
            }
            "trait" => {
                self.line(format!("trait {name}{}: {}", generics(&inner["generics"]), bounds(&inner["bounds"])));
                self.walk_all(&inner["items"], &name);
            }
            "constant" | "assoc_const" => self.line(format!("const {name}: {}", type_of(&inner["type"]))),
            "assoc_type" => self.line(format!("type {name} = {}", type_of(&inner["type"]))),
            "type_alias" => self.line(format!("type {name}{} = {}", generics(&inner["generics"]), type_of(&inner["type"]))),
            other => self.line(format!("{other} {name}")),
        }
    }

    /// What is offered under another path, of this crate or of another.
    fn walk_use(&mut self, path: &str, inner: &Value) {
        let target = self.item(&inner["id"]);
        if target.is_null() {
            self.line(format!("use {path}::{} = {}", text(inner, "name"), text(inner, "source")));
        } else if inner["is_glob"].as_bool().unwrap_or_default() {
            self.walk_all(&only(&target["inner"]).1["items"], path);
        } else {
            self.walk(path, &inner["id"]);
        }
    }

    fn impls(&mut self, name: &str, inner: &Value) {
        for id in items(&inner["impls"]) {
            let item = self.item(id);
            let (_, inner) = only(&item["inner"]);
            if !inner["blanket_impl"].is_null() {
                continue;
            }
            if inner["trait"].is_null() {
                self.walk_all(&inner["items"], name);
                continue;
            }
            // The compiler's own, which no stable program can name.
            if ["Freeze", "UnsafeUnpin"].contains(&path_of(&inner["trait"]).as_str()) {
                continue;
            }
            let mut line = String::new();
            let not = if inner["is_negative"].as_bool().unwrap_or_default() { "!" } else { "" };
            let _ = write!(line, "impl{} {not}{} for {name}", generics(&inner["generics"]), path_of(&inner["trait"]));
            self.line(line);
        }
    }
}

fn main() -> ExitCode {
    let read = std::env::args().nth(1).ok_or_else(|| "usage: public_api RUSTDOC_JSON".to_owned());
    let read = read.and_then(|path| std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}")));
    match read.and_then(|json| serde_json::from_str::<Value>(&json).map_err(|error| error.to_string())) {
        Ok(root) => {
            let mut docs = Docs { lines: BTreeSet::new(), root };
            let crate_id = docs.root["root"].clone();
            docs.walk("", &crate_id);
            docs.lines.iter().for_each(|line| println!("{line}"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("public_api: {error}");
            ExitCode::FAILURE
        }
    }
}
