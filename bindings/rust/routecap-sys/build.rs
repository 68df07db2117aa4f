// SPDX-License-Identifier: Apache-2.0

//! Finds libroutecap: `ROUTECAP_LIB_DIR`, else pkg-config, else an error that says what to install. Nothing is downloaded or generated.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The oldest library that has every function of these bindings.
const OLDEST: &str = "0.1.0";

const ADVICE: &str = "libroutecap was not found: install libroutecap-dev (or `packaging/run install --prefix DIR`), or set PKG_CONFIG_PATH to the folder of \
                      routecap.pc, or ROUTECAP_LIB_DIR to the folder of libroutecap.so, or enable the feature dynamic-loading";

fn set(name: &str) -> Option<String> {
    println!("cargo:rerun-if-env-changed={name}");
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Include folders of the library; the linker has been told where it is.
fn find_library() -> Result<Vec<PathBuf>, String> {
    let include: Vec<PathBuf> = set("ROUTECAP_INCLUDE_DIR").map(PathBuf::from).into_iter().collect();
    let static_library = set("ROUTECAP_STATIC").is_some_and(|value| value != "0");
    if let Some(folder) = set("ROUTECAP_LIB_DIR") {
        let file = if static_library { "libroutecap.a" } else { "libroutecap.so" };
        if !Path::new(&folder).join(file).exists() {
            return Err(format!("ROUTECAP_LIB_DIR is {folder}, which has no {file}"));
        }
        println!("cargo:rustc-link-search=native={folder}");
        if static_library {
            link_static();
        } else {
            println!("cargo:rustc-link-lib=dylib=routecap");
        }
        let beside = Path::new(&folder).join("../include");
        return Ok(if include.is_empty() && beside.exists() { vec![beside] } else { include });
    }
    // pkg-config's own crate links what lies in the system's folders dynamically, whatever it is asked for: the static library is linked here.
    let found = pkg_config::Config::new().atleast_version(OLDEST).cargo_metadata(!static_library).probe("routecap");
    let library = found.map_err(|error| format!("{ADVICE}. pkg-config says: {error}"))?;
    if static_library {
        let folder =
            pkg_config::get_variable("routecap", "libdir").map_err(|error| format!("pkg-config does not tell routecap's libdir: {error}"))?;
        if !Path::new(&folder).join("libroutecap.a").exists() {
            return Err(format!("ROUTECAP_STATIC is set, and {folder}, which pkg-config names, has no libroutecap.a"));
        }
        println!("cargo:rustc-link-search=native={folder}");
        link_static();
    }
    Ok(if include.is_empty() { library.include_paths } else { include })
}

/// The static library, and what it calls. Whoever links the program needs their development files.
fn link_static() {
    println!("cargo:rustc-link-lib=static=routecap");
    for needed in ["stdc++", "zstd", "m", "dl"] {
        println!("cargo:rustc-link-lib=dylib={needed}");
    }
}

/// The installed header, as bindgen reads it; nothing of it where documentation is built without the library.
#[cfg(feature = "buildtime-bindgen")]
fn read_header(include: Option<&[PathBuf]>) -> Result<(), String> {
    let out = PathBuf::from(std::env::var("OUT_DIR").map_err(|error| format!("OUT_DIR: {error}"))?).join("bindgen.rs");
    let failed = |error: std::io::Error| format!("{}: {error}", out.display());
    match include {
        None => std::fs::write(&out, "").map_err(failed)?,
        Some(include) => bindgen::Builder::default()
            .header_contents("wrapper.h", "#include <routecap/routecap_flat.h>\n")
            .clang_args(include.iter().map(|folder| format!("-I{}", folder.display())))
            .allowlist_item("rcap_.*|RCAP_.*")
            .prepend_enum_name(false)
            .derive_debug(false)
            .generate_comments(false)
            .layout_tests(true)
            .generate()
            .map_err(|error| format!("bindgen cannot read routecap_flat.h: {error}"))?
            .write_to_file(&out)
            .map_err(failed)?,
    }
    println!("cargo:rustc-env=ROUTECAP_BINDGEN={}", out.display());
    Ok(())
}

fn run() -> Result<(), String> {
    println!("cargo:rerun-if-changed=build.rs");
    // What docs.rs builds is never linked, and it has no libroutecap.
    if set("DOCS_RS").is_some() {
        #[cfg(feature = "buildtime-bindgen")]
        read_header(None)?;
        return Ok(());
    }
    let linked = !cfg!(feature = "dynamic-loading");
    if !linked && !cfg!(feature = "buildtime-bindgen") {
        return Ok(());
    }
    let include = find_library()?;
    for folder in &include {
        println!("cargo:include={}", folder.display());
    }
    #[cfg(feature = "buildtime-bindgen")]
    read_header(Some(&include))?;
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("cargo::error={}", error.replace('\n', " "));
            ExitCode::FAILURE
        }
    }
}
