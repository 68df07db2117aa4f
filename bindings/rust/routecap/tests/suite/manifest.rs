// SPDX-License-Identifier: Apache-2.0

//! Every function of the C API is bound by the safe crate, or stands here with the reason why not; every enum value and flag is the C API's.

use std::path::PathBuf;

use routecap_sys as sys;

/// Functions that the safe crate does not call.
const NOT_BOUND: &[(&str, &str)] = &[("_init", "a struct's DEFAULT is the same, as a constant; routecap-sys' test `defaults` compares both")];

fn sources() -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = String::new();
    for file in std::fs::read_dir(folder).unwrap() {
        all.push_str(&std::fs::read_to_string(file.unwrap().path()).unwrap());
    }
    all
}

#[test]
fn every_function_is_bound() {
    let sources = sources();
    let mut bound = 0;
    for function in sys::FUNCTIONS {
        let name = &function.name["rcap_".len()..];
        let called =
            [format!("call!({name}("), format!("destroy!({name}("), format!("derive!({name}("), format!("table.{name})("), format!("{name} =>")]
                .iter()
                .any(|call| sources.contains(call))
                || sources.contains(&format!("call!({name}\n"));
        let reason = NOT_BOUND.iter().find(|(suffix, _)| function.name.ends_with(suffix));
        assert!(called != reason.is_some(), "{}: called {called}, reason {reason:?}", function.name);
        bound += u32::from(called);
    }
    assert_eq!((sys::FUNCTIONS.len(), bound), (99, 76));
}

/// What the interface's thread tags say is what the types say: `capturer` functions are called by what is not Sync, and so on.
#[test]
fn functions_are_called_where_their_thread_tags_allow() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src");
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    let sealed = read("sealed.rs");
    let (engine, shared) = sealed.split_once("\nimpl Reader {").unwrap();
    for function in sys::FUNCTIONS {
        let name = &function.name["rcap_".len()..];
        let call = format!("call!({name}(");
        match (function.thread, function.frees) {
            ("capturer", _) => {
                assert!(!shared.contains(&call) && !read("read.rs").contains(&call), "{name} is on Reader");
                assert!(engine.contains(&call) || engine.contains(&format!("call!({name}(\n")) || read("capturer.rs").contains(&call), "{name}");
            }
            // One caller at a time for a handle: through `&mut self` alone.
            ("handle", "") => {
                let output = read("output.rs");
                let at = output.find(&call).unwrap_or_else(|| panic!("{name} is not in output.rs"));
                let signature = output[..at].rfind("pub fn ").unwrap();
                assert!(output[signature..at].contains("&mut self"), "{name} takes &self");
            }
            _ => {}
        }
    }
}

#[test]
fn the_api_description_names_the_same() {
    // In the project's tree; a crate's user does not have it.
    let Ok(source) = std::env::var("ROUTECAP_SOURCE") else { return };
    let json = std::fs::read_to_string(PathBuf::from(source).join("capi/abi/api.json")).unwrap();
    let api: serde_json::Value = serde_json::from_str(&json).unwrap();
    let functions: Vec<&str> = api["functions"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    let inits: Vec<&str> = api["structs"].as_array().unwrap().iter().map(|one| one["init"].as_str().unwrap()).collect();
    let ours: Vec<&str> = sys::FUNCTIONS.iter().map(|one| one.name).collect();
    assert_eq!(functions.len() + inits.len(), ours.len());
    for name in functions.iter().chain(&inits) {
        assert!(ours.contains(name), "{name} is not in the table");
    }
    // Enums by their numbers, through the safe types.
    let mut checked = 0;
    let mut check = |name: &str, all: Vec<i32>| {
        let one = api["enums"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap();
        let theirs: Vec<i64> = one["values"].as_array().unwrap().iter().map(|value| value["value"].as_i64().unwrap()).collect();
        assert_eq!(all.iter().copied().map(i64::from).collect::<Vec<_>>(), theirs, "{name}");
        checked += 1;
    };
    macro_rules! enums {
        ($($c:literal => $rust:ident),* $(,)?) => { $(
            check($c, routecap::$rust::ALL.iter().map(|one| { assert_eq!(routecap::$rust::from_raw(one.raw()), *one); one.raw() }).collect());
        )* };
    }
    enums!("rcap_status" => Code, "rcap_dtype" => DType, "rcap_memory" => Memory, "rcap_rows_kind" => RowsKind, "rcap_weights_kind" => WeightsKind);
    enums!("rcap_check_level" => CheckLevel, "rcap_finalize_mode" => FinalizeMode, "rcap_busy_policy" => BusyPolicy, "rcap_rows_term" => RowsTerm);
    enums!("rcap_model_role" => Role, "rcap_capture_gate" => Gate, "rcap_acceptance" => Acceptance, "rcap_fault" => Fault);
    enums!("rcap_slot_unit" => SlotUnit, "rcap_overlap" => Overlap, "rcap_fill" => Fill, "rcap_wire_format" => Format, "rcap_missing" => Missing);
    enums!("rcap_padding" => Padding, "rcap_axis_order" => AxisOrder, "rcap_split" => Split);
    check(
        "rcap_tap_flag",
        [routecap::TapFlags::HASH_ROUTED, routecap::TapFlags::UNORDERED, routecap::TapFlags::PARTIAL].map(routecap::TapFlags::bits).to_vec(),
    );
    check("rcap_read_flag", vec![routecap::ReadFlags::INCLUDE_LAST.bits()]);
    assert_eq!(checked, api["enums"].as_array().unwrap().len());
}

#[test]
fn codes_have_the_names_of_c() {
    for code in routecap::Code::ALL.iter().copied() {
        let written = code.name().replace('_', "").to_lowercase();
        assert_eq!(written, format!("{code:?}").to_lowercase());
    }
    assert_eq!(routecap::Code::Unknown(-99).to_string(), "UNKNOWN");
}
