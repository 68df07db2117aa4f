// SPDX-License-Identifier: Apache-2.0

//! What `swig -xml` says: enums, structs, handles and functions, with SWIG's spelling of C types (`p.q(const).int32_t`) turned into Rust's.

use std::collections::BTreeMap;

use roxmltree::{Document, Node};

use crate::api::Api;

pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) rust: String,
}

pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) result: Option<String>,
    pub(crate) parameters: Vec<Parameter>,
    /// Our `%feature("rcap:…")`s: thread, owner, frees, capture, retains.
    pub(crate) features: BTreeMap<String, String>,
}

pub(crate) struct Struct {
    pub(crate) name: String,
    pub(crate) fields: Vec<Parameter>,
}

pub(crate) struct Enum {
    /// Without `_value`.
    pub(crate) name: String,
    pub(crate) values: Vec<(String, i64)>,
}

#[derive(Default)]
pub(crate) struct Interface {
    pub(crate) enums: Vec<Enum>,
    pub(crate) structs: Vec<Struct>,
    pub(crate) handles: Vec<String>,
    pub(crate) functions: Vec<Function>,
}

/// The attributes that SWIG lists below a node.
fn attributes(node: Node) -> BTreeMap<String, String> {
    let list = node.children().find(|child| child.has_tag_name("attributelist"));
    list.into_iter()
        .flat_map(|list| list.children())
        .filter(|child| child.has_tag_name("attribute"))
        .filter_map(|child| Some((child.attribute("name")?.to_owned(), child.attribute("value")?.to_owned())))
        .collect()
}

/// Rust's type of SWIG's. What is not in the API's small vocabulary is refused, so that nothing is bound by accident.
fn rust_type(swig: &str) -> Result<String, String> {
    if let Some(rest) = swig.strip_prefix("p.q(const).") {
        return Ok(format!("*const {}", rust_type(rest)?));
    }
    if let Some(rest) = swig.strip_prefix("p.") {
        return Ok(format!("*mut {}", rust_type(rest)?));
    }
    if let Some((count, element)) = swig.strip_prefix("a(").and_then(|rest| rest.split_once(").")) {
        return Ok(format!("[{}; {count}]", rust_type(element)?));
    }
    match swig {
        "int32_t" => Ok("i32".to_owned()),
        "int64_t" => Ok("i64".to_owned()),
        "char" => Ok("c_char".to_owned()),
        "void" => Ok("c_void".to_owned()),
        name if name.starts_with("rcap_") && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_') => {
            Ok(name.to_owned())
        }
        other => Err(format!("the C type '{other}' has no counterpart in Rust; interface.rs knows integers, char, void and names of the API")),
    }
}

/// SWIG keeps the pointers and bounds of a declaration in `decl` and the rest in `type`.
fn field_type(attributes: &BTreeMap<String, String>) -> Result<String, String> {
    let whole = format!("{}{}", attributes.get("decl").map_or("", String::as_str), attributes["type"]);
    rust_type(&whole)
}

/// The result of a function: the part of `decl` behind the balanced parentheses of `f(…).`, and `type`.
fn result_type(attributes: &BTreeMap<String, String>) -> Result<Option<String>, String> {
    let decl = &attributes["decl"];
    let mut depth = 0;
    let end = decl
        .char_indices()
        .find(|(_, character)| {
            depth += i32::from(*character == '(') - i32::from(*character == ')');
            depth == 0 && *character == ')'
        })
        .map(|(at, _)| at)
        .ok_or_else(|| format!("'{decl}' is no function's declaration"))?;
    let whole = format!("{}{}", decl[end + 1..].trim_start_matches('.'), attributes["type"]);
    if whole == "void" { Ok(None) } else { rust_type(&whole).map(Some) }
}

fn parameters(node: Node) -> Result<Vec<Parameter>, String> {
    node.descendants()
        .filter(|child| child.has_tag_name("parm"))
        .map(attributes)
        .filter(|parameter| parameter["type"] != "void")
        .map(|parameter| Ok(Parameter { name: rust_name(&parameter["name"]), rust: rust_type(&parameter["type"])? }))
        .collect()
}

/// `self` and `from` are C's; `self` is a keyword here.
fn rust_name(name: &str) -> String {
    if name == "self" { "self_".to_owned() } else { name.to_owned() }
}

impl Interface {
    pub(crate) fn parse(xml: &str) -> Result<Interface, String> {
        let document = Document::parse(xml).map_err(|error| format!("the XML: {error}"))?;
        let mut interface = Interface::default();
        for node in document.descendants() {
            let attributes = attributes(node);
            let name = attributes.get("name").cloned().unwrap_or_default();
            if !name.starts_with("rcap_") {
                continue;
            }
            match node.tag_name().name() {
                "enum" => interface.enums.push(read_enum(node, &name)?),
                "class" => interface.structs.push(read_struct(node, &name)?),
                "cdecl" if attributes.get("kind").is_some_and(|kind| kind == "function") => {
                    let features =
                        attributes.iter().filter_map(|(key, value)| Some((key.strip_prefix("feature_rcap_")?.to_owned(), value.clone()))).collect();
                    let result = result_type(&attributes).map_err(|error| format!("{name}: {error}"))?;
                    let parameters = parameters(node).map_err(|error| format!("{name}: {error}"))?;
                    interface.functions.push(Function { name, result, parameters, features });
                }
                "cdecl"
                    if attributes.get("storage").is_some_and(|storage| storage == "typedef") && attributes["type"] == format!("struct {name}") =>
                {
                    interface.handles.push(name);
                }
                _ => {}
            }
        }
        let defined: Vec<&str> = interface.structs.iter().map(|one| one.name.as_str()).collect();
        interface.handles.retain(|handle| !defined.contains(&handle.as_str()));
        Ok(interface)
    }

    /// Both were made from capi/api, by programs that know nothing of each other.
    pub(crate) fn agrees_with(&self, api: &Api) -> Result<(), String> {
        same("handles", self.handles.iter().cloned(), api.handles.iter().map(|one| one.name.clone()))?;
        same("structs", self.structs.iter().map(|one| one.name.clone()), api.structs.iter().map(|one| one.name.clone()))?;
        same("functions", self.functions.iter().map(|one| one.name.clone()), api.function_names())?;
        same(
            "enum values",
            self.enums.iter().flat_map(|one| one.values.iter().map(|(name, value)| format!("{}: {name} = {value}", one.name))),
            api.enums.iter().flat_map(|one| one.values.iter().map(|value| format!("{}: {} = {}", one.name, value.name, value.value))),
        )?;
        for (ours, theirs) in self.structs.iter().map(|ours| (ours, api.structs.iter().find(|theirs| theirs.name == ours.name))) {
            let theirs = theirs.expect("the names are the same");
            let fields = theirs.fields.iter().map(|field| format!("{}.{}: {}", ours.name, field.name, field.rust()));
            same("fields", ours.fields.iter().map(|field| format!("{}.{}: {}", ours.name, field.name, field.rust)), fields)?;
        }
        for ours in &self.functions {
            if let Some(theirs) = api.functions.iter().find(|theirs| theirs.name == ours.name) {
                let describe = |name: &str, rust: &str| format!("{}({name}: {rust})", ours.name);
                same(
                    "parameters",
                    ours.parameters.iter().map(|one| describe(&one.name, &one.rust)),
                    theirs.parameters.iter().map(|one| describe(&rust_name(&one.name), &one.rust)),
                )?;
                let thread = ours.features.get("thread").map_or("", String::as_str);
                if thread != theirs.thread {
                    return Err(format!("{}: SWIG says thread '{thread}', api.json '{}'", ours.name, theirs.thread));
                }
            }
        }
        Ok(())
    }
}

/// The same set on both sides, whatever the order.
fn same(what: &str, swig: impl Iterator<Item = String>, json: impl Iterator<Item = String>) -> Result<(), String> {
    let (mut swig, mut json): (Vec<String>, Vec<String>) = (swig.collect(), json.collect());
    swig.sort();
    json.sort();
    if let Some(one) = swig.iter().find(|one| !json.contains(one)) {
        return Err(format!("{what}: SWIG has '{one}', api.json does not"));
    }
    match json.iter().find(|one| !swig.contains(one)) {
        Some(one) => Err(format!("{what}: api.json has '{one}', SWIG does not")),
        None if (swig.is_empty() && what != "parameters") || swig.len() != json.len() => {
            Err(format!("{what}: {} in SWIG's, {} in api.json", swig.len(), json.len()))
        }
        None => Ok(()),
    }
}

fn read_enum(node: Node, name: &str) -> Result<Enum, String> {
    let values = node
        .children()
        .filter(|child| child.has_tag_name("enumitem"))
        .map(|child| {
            let attributes = attributes(child);
            let text = &attributes["enumvalue"];
            let value = text.parse().map_err(|_| format!("{name}: '{text}' is no number"))?;
            Ok((attributes["name"].clone(), value))
        })
        .collect::<Result<_, String>>()?;
    Ok(Enum { name: name.trim_end_matches("_value").to_owned(), values })
}

fn read_struct(node: Node, name: &str) -> Result<Struct, String> {
    let fields = node
        .children()
        .filter(|child| child.has_tag_name("cdecl"))
        .map(|child| {
            let attributes = attributes(child);
            let rust = field_type(&attributes).map_err(|error| format!("{name}: {error}"))?;
            Ok(Parameter { name: attributes["name"].clone(), rust })
        })
        .collect::<Result<_, String>>()?;
    Ok(Struct { name: name.to_owned(), fields })
}
