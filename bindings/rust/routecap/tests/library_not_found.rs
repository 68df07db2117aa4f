// SPDX-License-Identifier: Apache-2.0

//! With the feature `dynamic-loading` and no library: every call is an error that says where it was looked for, and nothing panics.

#![cfg(feature = "dynamic-loading")]

use std::path::PathBuf;
use std::process::Command;

use routecap::{Backend, Capturer, Code, DecodeHints, Error, Format, Record, Role};

const CHILD: &str = "ROUTECAP_TEST_WITHOUT_LIBRARY";

/// The library is looked for once in a process, so that each place has one of its own.
fn child(library: Option<&str>, want: &str) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "every_call_says_so", "--nocapture"]).env(CHILD, want).env_remove("ROUTECAP_LIBRARY").env_remove("LD_LIBRARY_PATH");
    if let Some(library) = library {
        command.env("ROUTECAP_LIBRARY", library);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn every_call_says_so() {
    let Ok(want) = std::env::var(CHILD) else { return };
    let errors = [
        routecap::version().unwrap_err(),
        routecap::build_info().unwrap_err(),
        Capturer::builder(8, 1, &[0]).max_forward_tokens(1).create().unwrap_err(),
        Backend::host().unwrap_err(),
        Format::detect(b"x").unwrap_err(),
        "frame".parse::<Format>().unwrap_err(),
        Record::decode(Format::Frame, b"x", &DecodeHints::new()).unwrap_err(),
        Record::builder(8, 1, &[0]).ids(&[1_u8]).create().unwrap_err(),
    ];
    for error in errors {
        let Error::Library(load) = &error else { panic!("{error}") };
        assert_eq!((load.tried.len(), error.code(), error.text()), (1, Code::NotFound, ""));
        assert!(error.to_string().contains(&want) && !error.to_string().contains('\n'), "{error}, want {want}");
    }
    // What needs no library works, and what has a name says that it does not know it.
    assert_eq!((Code::Busy.to_string(), Format::Frame.to_string(), Role::Draft.raw()), ("UNKNOWN".to_owned(), "unknown".to_owned(), 1));
}

#[test]
fn nowhere() {
    child(Some("/nowhere/libroutecap.so"), "/nowhere/libroutecap.so: ");
    child(None, "libroutecap.so.0: ");
}

#[test]
fn something_else() {
    // Another library, and a file that is none.
    child(Some("libm.so.6"), "libm.so.6: is not routecap: it has no rcap_get_api");
    let text = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    child(text.to_str(), "Cargo.toml: ");
}

/// What is named is looked at before the dynamic linker sees it, which would end the process at a file that was cut short.
#[test]
fn broken_files() {
    let Some(folder) = std::env::var_os("ROUTECAP_LOADING_CASES").map(PathBuf::from) else {
        // tests/loading writes the files; a crate alone has none.
        assert!(!PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/loading").exists(), "ROUTECAP_LOADING_CASES names no folder");
        return;
    };
    let cases = std::fs::read_to_string(folder.join("cases")).unwrap();
    assert!(cases.lines().count() >= 20, "{cases}");
    for case in cases.lines() {
        let (name, reason) = case.split_once('\t').unwrap();
        let path = folder.join(name);
        let path = path.to_str().unwrap();
        if reason.is_empty() {
            let mut command = Command::new(std::env::current_exe().unwrap());
            let output = command.args(["--exact", "loads", "--nocapture"]).env(CHILD, "").env("ROUTECAP_LIBRARY", path).output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && said.contains("1 passed"), "{name}: {said}\n{}", String::from_utf8_lossy(&output.stderr));
        } else {
            child(Some(path), &format!("; {path}: {reason}"));
        }
    }
}

#[test]
fn loads() {
    if std::env::var_os(CHILD).is_some() {
        assert!(!routecap::version().unwrap().is_empty());
    }
}
