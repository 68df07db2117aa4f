// SPDX-License-Identifier: Apache-2.0

//! What api.json says that SWIG does not: documentation, offsets, defaults, and the slots of the function table.

use serde_json::Value;

pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) doc: String,
    /// Function that ends such a handle; empty where a capturer owns it.
    pub(crate) destroy: String,
}

pub(crate) struct EnumValue {
    pub(crate) name: String,
    pub(crate) value: i64,
    pub(crate) doc: String,
}

pub(crate) struct Enum {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) flags: bool,
    pub(crate) values: Vec<EnumValue>,
}

pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) offset: i64,
    pub(crate) size: i64,
    pub(crate) default: i64,
    c_type: String,
    count: Option<i64>,
}

pub(crate) struct Struct {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) size: i64,
    pub(crate) init: String,
    pub(crate) init_slot: i64,
    pub(crate) fields: Vec<Field>,
}

pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) rust: String,
}

pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) return_doc: String,
    pub(crate) slot: i64,
    pub(crate) thread: String,
    pub(crate) thread_note: String,
    pub(crate) parameters: Vec<Parameter>,
}

pub(crate) struct Api {
    pub(crate) version: String,
    pub(crate) abi_version: i64,
    pub(crate) soname: String,
    pub(crate) enums: Vec<Enum>,
    pub(crate) structs: Vec<Struct>,
    pub(crate) handles: Vec<Named>,
    pub(crate) functions: Vec<Function>,
}

impl Field {
    pub(crate) fn rust(&self) -> String {
        let element = rust_type(&self.c_type);
        self.count.map_or(element.clone(), |count| format!("[{element}; {count}]"))
    }

    /// A field that only keeps a place or a size.
    pub(crate) fn is_internal(&self) -> bool {
        self.name == "struct_size" || self.doc == "Always 0."
    }
}

/// C's spelling of a type, from the right.
fn rust_type(c: &str) -> String {
    let c = c.trim();
    if let Some(pointed) = c.strip_suffix('*') {
        return match pointed.trim().strip_prefix("const ") {
            Some(constant) if !constant.contains('*') => format!("*const {}", rust_type(constant)),
            Some(constant) => format!("*mut {}", rust_type(&format!("const {constant}"))),
            None => format!("*mut {}", rust_type(pointed)),
        };
    }
    match c {
        "int32_t" => "i32".to_owned(),
        "int64_t" => "i64".to_owned(),
        "char" => "c_char".to_owned(),
        "void" => "c_void".to_owned(),
        name => name.to_owned(),
    }
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn number(value: &Value, key: &str) -> i64 {
    value[key].as_i64().unwrap_or_default()
}

fn list<T>(value: &Value, key: &str, read: impl Fn(&Value) -> T) -> Vec<T> {
    value[key].as_array().map(|all| all.iter().map(read).collect()).unwrap_or_default()
}

impl Api {
    pub(crate) fn parse(json: &str) -> Result<Api, String> {
        let root: Value = serde_json::from_str(json).map_err(|error| format!("api.json: {error}"))?;
        Ok(Api {
            version: text(&root, "version"),
            abi_version: number(&root, "abi_version"),
            soname: text(&root, "soname"),
            enums: list(&root, "enums", |one| Enum {
                name: text(one, "name"),
                doc: text(one, "doc"),
                flags: one["flags"].as_bool().unwrap_or_default(),
                values: list(one, "values", |value| EnumValue { name: text(value, "name"), value: number(value, "value"), doc: text(value, "doc") }),
            }),
            structs: list(&root, "structs", |one| Struct {
                name: text(one, "name"),
                doc: text(one, "doc"),
                size: number(one, "size"),
                init: text(one, "init"),
                init_slot: number(one, "init_slot"),
                fields: list(one, "fields", |field| Field {
                    name: text(field, "name"),
                    doc: text(field, "doc"),
                    offset: number(field, "offset"),
                    size: number(field, "size"),
                    default: number(field, "default"),
                    c_type: text(field, "type"),
                    count: field["count"].as_i64(),
                }),
            }),
            handles: list(&root, "handles", |one| Named { name: text(one, "name"), doc: text(one, "doc"), destroy: text(one, "destroy") }),
            functions: list(&root, "functions", |one| Function {
                name: text(one, "name"),
                doc: text(one, "doc"),
                return_doc: text(one, "return_doc"),
                slot: number(one, "slot"),
                thread: text(one, "thread"),
                thread_note: text(one, "thread_note"),
                parameters: list(one, "parameters", |parameter| Parameter {
                    name: text(parameter, "name"),
                    rust: rust_type(&text(parameter, "type")),
                }),
            }),
        })
    }

    /// Every function, the structs' `init`s too.
    pub(crate) fn function_names(&self) -> impl Iterator<Item = String> {
        self.functions.iter().map(|one| one.name.clone()).chain(self.structs.iter().map(|one| one.init.clone()))
    }

    /// Slot of a function in the table.
    pub(crate) fn slot(&self, function: &str) -> Option<i64> {
        let named = self.functions.iter().find(|one| one.name == function).map(|one| one.slot);
        named.or_else(|| self.structs.iter().find(|one| one.init == function).map(|one| one.init_slot))
    }
}
