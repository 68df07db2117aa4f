// SPDX-License-Identifier: Apache-2.0

//! `routecap/src/enums.rs`: the safe crate's enums and flags.

use std::fmt::Write;

use crate::api::{Api, Enum as Documented};
use crate::docs::comment;
use crate::interface::{Enum, Interface};

/// C's name of an enum, Rust's, and the prefix of its values in C. One that is not here is refused, so that a new one is named by a person.
pub(crate) const NAMES: &[(&str, &str, &str)] = &[
    ("rcap_status", "Code", "RCAP_STATUS_"),
    ("rcap_dtype", "DType", "RCAP_DTYPE_"),
    ("rcap_memory", "Memory", "RCAP_MEMORY_"),
    ("rcap_rows_kind", "RowsKind", "RCAP_ROWS_"),
    ("rcap_weights_kind", "WeightsKind", "RCAP_WEIGHTS_"),
    ("rcap_check_level", "CheckLevel", "RCAP_CHECK_"),
    ("rcap_finalize_mode", "FinalizeMode", "RCAP_FINALIZE_"),
    ("rcap_busy_policy", "BusyPolicy", "RCAP_BUSY_"),
    ("rcap_rows_term", "RowsTerm", "RCAP_TERM_"),
    ("rcap_model_role", "Role", "RCAP_ROLE_"),
    ("rcap_capture_gate", "Gate", "RCAP_CAPTURE_"),
    ("rcap_tap_flag", "TapFlags", "RCAP_TAP_"),
    ("rcap_acceptance", "Acceptance", "RCAP_ACCEPT_"),
    ("rcap_fault", "Fault", "RCAP_FAULT_"),
    ("rcap_slot_unit", "SlotUnit", "RCAP_UNIT_"),
    ("rcap_read_flag", "ReadFlags", "RCAP_READ_"),
    ("rcap_overlap", "Overlap", "RCAP_OVERLAP_"),
    ("rcap_fill", "Fill", "RCAP_FILL_"),
    ("rcap_wire_format", "Format", "RCAP_WIRE_"),
    ("rcap_missing", "Missing", "RCAP_MISSING_"),
    ("rcap_padding", "Padding", "RCAP_PADDING_"),
    ("rcap_axis_order", "AxisOrder", "RCAP_AXIS_ORDER_"),
    ("rcap_split", "Split", "RCAP_SPLIT_"),
];

/// Words that are not simply capitalized.
const WORDS: &[(&str, &str)] =
    &[("SGLANG", "SgLang"), ("VLLM", "Vllm"), ("BFLOAT16", "BFloat16"), ("UINT8", "UInt8"), ("UINT16", "UInt16"), ("NEMO", "NeMo")];

fn camel(constant: &str) -> String {
    let mut name = String::new();
    for word in constant.split('_') {
        if let Some((_, spelled)) = WORDS.iter().find(|(one, _)| *one == word) {
            name.push_str(spelled);
            continue;
        }
        let mut letters = word.chars();
        name.extend(letters.next());
        name.push_str(&letters.as_str().to_ascii_lowercase());
    }
    name
}

/// C's spellings in a comment become Rust's.
pub(crate) fn spell(doc: &str) -> String {
    let mut doc = doc.to_owned();
    for (c, rust, prefix) in NAMES {
        doc = doc.replace(&format!("`{c}`"), &format!("`{rust}`"));
        while let Some(at) = doc.find(prefix) {
            let end = doc[at..].find(|one: char| !one.is_ascii_alphanumeric() && one != '_').map_or(doc.len(), |offset| at + offset);
            let constant = camel(&doc[at + prefix.len()..end]);
            let quoted = doc[..at].ends_with('`');
            let spelled = if quoted { format!("{rust}::{constant}") } else { format!("`{rust}::{constant}`") };
            doc.replace_range(at..end, &spelled);
        }
    }
    doc
}

pub(crate) fn write(interface: &Interface, api: &Api) -> Result<String, String> {
    let mut out = String::from(crate::ffi::HEADER);
    out.push_str(
        "//! Enums and flags of the C API. A number that this version of the crate does not know is kept as it is.\n\nuse routecap_sys as sys;\n",
    );
    for one in &interface.enums {
        let (_, rust, prefix) = NAMES
            .iter()
            .find(|(c, _, _)| *c == one.name)
            .ok_or_else(|| format!("the enum {} has no name in Rust; give it one in generator/src/enums.rs", one.name))?;
        let documented = api.enums.iter().find(|theirs| theirs.name == one.name).ok_or_else(|| format!("{} is not in api.json", one.name))?;
        if documented.flags {
            write_flags(&mut out, one, documented, rust, prefix);
        } else {
            write_enum(&mut out, one, documented, rust, prefix);
        }
    }
    Ok(out)
}

fn doc_of<'a>(documented: &'a Documented, name: &str) -> &'a str {
    documented.values.iter().find(|value| value.name == name).map_or("", |value| value.doc.as_str())
}

fn write_enum(out: &mut String, one: &Enum, documented: &Documented, rust: &str, prefix: &str) {
    out.push('\n');
    comment(out, "", &spell(&documented.doc));
    let _ = writeln!(out, "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n#[non_exhaustive]\npub enum {rust} {{");
    for (name, _) in &one.values {
        comment(out, "    ", &spell(doc_of(documented, name)));
        let _ = writeln!(out, "    {},", camel(&name[prefix.len()..]));
    }
    let _ = writeln!(out, "    /// A number that this version of the crate has no name for.\n    Unknown(i32),\n}}\n\nimpl {rust} {{");
    out.push_str("    /// Its number in C.\n    #[must_use]\n    pub const fn raw(self) -> i32 {\n        match self {\n");
    for (name, _) in &one.values {
        let _ = writeln!(out, "            Self::{} => sys::{name},", camel(&name[prefix.len()..]));
    }
    out.push_str("            Self::Unknown(number) => number,\n        }\n    }\n\n    /// The value of a number in C.\n    #[must_use]\n    pub const fn from_raw(number: i32) -> Self {\n        match number {\n");
    for (name, _) in &one.values {
        let _ = writeln!(out, "            sys::{name} => Self::{},", camel(&name[prefix.len()..]));
    }
    out.push_str("            _ => Self::Unknown(number),\n        }\n    }\n\n    /// All values that this version of the crate knows.\n");
    let _ = writeln!(out, "    pub const ALL: &'static [Self] = &[");
    for (name, _) in &one.values {
        let _ = writeln!(out, "        Self::{},", camel(&name[prefix.len()..]));
    }
    out.push_str("    ];\n}\n");
    if let Some((first, _)) = one.values.iter().find(|(_, value)| *value == 0) {
        let _ = writeln!(
            out,
            "\nimpl Default for {rust} {{\n    /// The value that is 0 in C.\n    fn default() -> Self {{\n        Self::{}\n    }}\n}}",
            camel(&first[prefix.len()..])
        );
    }
}

fn write_flags(out: &mut String, one: &Enum, documented: &Documented, rust: &str, prefix: &str) {
    out.push('\n');
    comment(out, "", &format!("{} Combined with `|`.", spell(&documented.doc)));
    let _ =
        writeln!(out, "#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]\n#[repr(transparent)]\npub struct {rust}(i32);\n\nimpl {rust} {{");
    out.push_str("    /// None of them.\n    pub const NONE: Self = Self(0);\n");
    for (name, _) in &one.values {
        comment(out, "    ", &spell(doc_of(documented, name)));
        let _ = writeln!(out, "    pub const {}: Self = Self(sys::{name});", &name[prefix.len()..]);
    }
    out.push_str("\n    /// Its bits in C.\n    #[must_use]\n    pub const fn bits(self) -> i32 {\n        self.0\n    }\n\n");
    out.push_str("    /// Flags of bits in C, unknown ones included.\n    #[must_use]\n    pub const fn from_bits(bits: i32) -> Self {\n        Self(bits)\n    }\n\n");
    out.push_str("    /// Whether all of `other`'s are among these.\n    #[must_use]\n    pub const fn contains(self, other: Self) -> bool {\n        self.0 & other.0 == other.0\n    }\n}\n");
    let _ = writeln!(
        out,
        "\nimpl core::ops::BitOr for {rust} {{\n    type Output = Self;\n\n    fn bitor(self, other: Self) -> Self {{\n        Self(self.0 | other.0)\n    }}\n}}"
    );
}
