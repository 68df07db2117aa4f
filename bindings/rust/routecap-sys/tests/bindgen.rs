// SPDX-License-Identifier: Apache-2.0

//! The installed header as bindgen reads it (feature `buildtime-bindgen`) and the committed declarations, which SWIG read: the same functions with the same
//! signatures, the same fields of the same types, the same constants. bindgen's sizes and offsets are asserted when its module is compiled.

#![cfg(feature = "buildtime-bindgen")]

use std::collections::BTreeMap;

/// Without blanks, line ends and the ways of writing one type.
fn normal(text: &str) -> String {
    let mut text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (from, to) in
        [("::std::os::raw::", ""), ("core::ffi::", ""), ("usize]", "]"), ("c_int", "i32"), ("c_uint", "i32"), (", )", ")"), ("( ", "("), (",)", ")")]
    {
        text = text.replace(from, to);
    }
    text
}

/// What stands between `start` and `end` behind it, for every `start`, by the word that comes first.
fn all(source: &str, start: &str, end: &str) -> BTreeMap<String, String> {
    source
        .split(start)
        .skip(1)
        .filter_map(|rest| {
            let text = normal(&rest[..rest.find(end)?]);
            let name: String = text.chars().take_while(|one| one.is_ascii_alphanumeric() || *one == '_').collect();
            Some((name.clone(), text[name.len()..].trim().to_owned()))
        })
        .collect()
}

fn without_comments(source: &str) -> String {
    source.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn bindgen_reads_the_same() {
    let ours = without_comments(include_str!("../src/ffi.rs"));
    let theirs = without_comments(routecap_sys::bindgen::SOURCE);
    // Only the declarations: not the functions of the other feature, and not the table.
    let declared = &ours[..ours.find("#[cfg(feature = \"dynamic-loading\")]").unwrap()];
    let mut functions = all(declared, "pub fn rcap_", ";");
    assert_eq!(functions.remove("get_api").unwrap(), "(abi_version: i32) -> *const rcap_api");
    let read = all(&theirs, "pub fn rcap_", ";");
    assert_eq!((functions.len(), read.len()), (99, 99));
    for (name, signature) in &functions {
        assert_eq!(Some(signature), read.get(name), "rcap_{name}");
    }

    let mut structs = all(declared, "pub struct rcap_", "}");
    structs.remove("api");
    let read = all(&theirs, "pub struct rcap_", "}");
    assert_eq!((structs.len(), read.len()), (29, 29));
    for (name, fields) in &structs {
        // A handle has no fields, and each of both writes that differently.
        if fields.contains("_data") {
            assert!(read[name].contains("_unused"), "rcap_{name}: {}", read[name]);
        } else {
            assert_eq!(Some(&normal(&fields.replace(", }", " }"))), read.get(name), "rcap_{name}");
        }
    }

    let value = |text: &str| text.split_once(" = ").map(|(_, value)| value.trim_end_matches(';').to_owned());
    let mut constants = all(declared, "pub const RCAP_", ";");
    for own in ["VERSION_STRING", "ABI_VERSION", "SONAME"] {
        constants.remove(own).unwrap();
    }
    let read = all(&theirs, "pub const RCAP_", ";");
    assert_eq!(constants.keys().collect::<Vec<_>>(), read.keys().collect::<Vec<_>>());
    for (name, text) in &constants {
        assert_eq!(value(text), value(&read[name]), "RCAP_{name}");
    }
}

/// A type of bindgen's where one of ours is expected, by size and alignment.
#[test]
fn layouts_of_both() {
    macro_rules! same {
        ($($name:ident),*) => { $(
            let (ours, theirs) = (std::alloc::Layout::new::<routecap_sys::$name>(), std::alloc::Layout::new::<routecap_sys::bindgen::$name>());
            assert_eq!(ours, theirs, stringify!($name));
        )* };
    }
    same!(
        rcap_error,
        rcap_capturer_config,
        rcap_capture_layout,
        rcap_forward_layout,
        rcap_summary,
        rcap_read_layout,
        rcap_read_info,
        rcap_record_info
    );
    same!(
        rcap_compare_report,
        rcap_encode_options,
        rcap_decode_hints,
        rcap_backend_info,
        rcap_capturer_stats,
        rcap_capturer_plan,
        rcap_accept_layout,
        rcap_fill_layout,
        rcap_partition_layout
    );
}
