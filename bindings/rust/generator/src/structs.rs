// SPDX-License-Identifier: Apache-2.0

//! `routecap/src/structs.rs`: reports and counters that the library fills, with enums and truth values in place of numbers.

use std::fmt::Write;

use crate::api::{Api, Field};
use crate::docs::comment;
use crate::enums::{NAMES, spell};
use crate::interface::Interface;

/// C's name, Rust's.
const STRUCTS: &[(&str, &str)] = &[
    ("rcap_backend_info", "BackendInfo"),
    ("rcap_build_info", "BuildInfo"),
    ("rcap_capturer_plan", "Plan"),
    ("rcap_capturer_stats", "Stats"),
    ("rcap_summary", "Summary"),
    ("rcap_slot_info", "SlotInfo"),
    ("rcap_read_info", "ReadInfo"),
    ("rcap_record_info", "RecordInfo"),
    ("rcap_compare_report", "CompareReport"),
];

/// Type and conversion of a field.
fn safe(field: &Field) -> (String, String) {
    let name = &field.name;
    if field.rust().starts_with('[') {
        return ("String".to_owned(), format!("crate::error::text(&from.{name})"));
    }
    if field.rust() == "i32" {
        if field.doc.starts_with("1 if ") {
            return ("bool".to_owned(), format!("from.{name} != 0"));
        }
        let named = NAMES.iter().find(|(c, _, _)| field.doc.starts_with(&format!("`{c}`")) || field.doc.contains(&format!(" `{c}`")));
        if let Some((_, rust, _)) = named {
            return (rust.to_string(), format!("{rust}::from_raw(from.{name})"));
        }
    }
    (field.rust(), format!("from.{name}"))
}

pub(crate) fn write(interface: &Interface, api: &Api) -> Result<String, String> {
    let mut out = String::from(crate::ffi::HEADER);
    out.push_str("//! What the library tells: plans, counters, summaries, reports.\n\nuse routecap_sys as sys;\n\nuse crate::enums::{DType, Fault, RowsTerm, WeightsKind};\n");
    for (c, rust) in STRUCTS {
        let laid = api.structs.iter().find(|one| one.name == *c).filter(|one| interface.structs.iter().any(|ours| ours.name == one.name));
        let laid = laid.ok_or_else(|| format!("the struct {c} is gone; take it out of generator/src/structs.rs"))?;
        out.push('\n');
        comment(&mut out, "", &spell(&laid.doc));
        let _ = writeln!(out, "#[derive(Clone, Debug, PartialEq, Eq)]\n#[non_exhaustive]\npub struct {rust} {{");
        for field in laid.fields.iter().filter(|field| !field.is_internal()) {
            let doc = spell(&field.doc);
            // What was 1 or 0 is true or false.
            let doc = doc.strip_prefix("1 if ").map_or(doc.clone(), |rest| format!("Whether {}", rest.replace(", else 0", "")));
            comment(&mut out, "    ", &doc);
            let _ = writeln!(out, "    pub {}: {},", field.name, safe(field).0);
        }
        let _ = writeln!(out, "}}\n\nimpl From<&sys::{c}> for {rust} {{\n    fn from(from: &sys::{c}) -> Self {{\n        Self {{");
        for field in laid.fields.iter().filter(|field| !field.is_internal()) {
            let _ = writeln!(out, "            {}: {},", field.name, safe(field).1);
        }
        out.push_str("        }\n    }\n}\n");
    }
    Ok(out)
}
