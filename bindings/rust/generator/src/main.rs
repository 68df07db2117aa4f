// SPDX-License-Identifier: Apache-2.0

//! `generator XML API_JSON FOLDER`: the Rust bindings' generated files, from what SWIG says of bindings/swig/routecap.i (`swig -xml`) and from
//! capi/abi/api.json.
//!
//! Names, types, values, ownership and thread tags are SWIG's; documentation, offsets, defaults and the order of the function table are the JSON's,
//! because SWIG does not carry them. Where both know something they must agree, or nothing is written.

mod api;
mod docs;
mod enums;
mod ffi;
mod interface;
mod layouts;
mod structs;

use std::path::Path;
use std::process::ExitCode;

fn run(arguments: &[String]) -> Result<(), String> {
    let [xml, json, folder] = arguments else {
        return Err("usage: generator XML API_JSON FOLDER".to_owned());
    };
    let read = |path: &str| std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
    let interface = interface::Interface::parse(&read(xml)?)?;
    let api = api::Api::parse(&read(json)?)?;
    interface.agrees_with(&api)?;
    let write = |name: &str, text: String| {
        let path = Path::new(folder).join(name);
        std::fs::create_dir_all(path.parent().expect("a file has a folder"))
            .and_then(|()| std::fs::write(&path, text))
            .map_err(|error| format!("{}: {error}", path.display()))
    };
    write("routecap-sys/src/ffi.rs", ffi::write(&interface, &api)?)?;
    write("routecap-sys/tests/layouts.rs", layouts::write(&api))?;
    write("routecap/src/enums.rs", enums::write(&interface, &api)?)?;
    write("routecap/src/structs.rs", structs::write(&interface, &api)?)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generator: {error}");
            ExitCode::FAILURE
        }
    }
}
