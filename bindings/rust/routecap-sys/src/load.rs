// SPDX-License-Identifier: Apache-2.0

//! Finding the library at run time, as `routecap_loader.h` does: one place is tried.

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::{LoadError, RCAP_SONAME, Tried, elf, rcap_api, table_of};

/// `ROUTECAP_LIBRARY`, else the SONAME in the dynamic linker's search path.
pub(crate) fn find() -> Result<&'static rcap_api, LoadError> {
    let named = std::env::var_os("ROUTECAP_LIBRARY").filter(|name| !name.is_empty() && !is_privileged());
    open(&named.unwrap_or_else(|| RCAP_SONAME.into()))
}

fn open(name: &std::ffi::OsStr) -> Result<&'static rcap_api, LoadError> {
    let shown = name.to_string_lossy().into_owned();
    let refused = |reason: String| LoadError { tried: vec![Tried { name: shown.clone(), reason }] };
    // What has a slash is a file; a SONAME is the dynamic linker's to find.
    if let Some(why) = name.as_encoded_bytes().contains(&b'/').then(|| elf::refusal(name.as_ref())).flatten() {
        return Err(refused(why));
    }
    // SAFETY: the library's initializers do nothing but set up the C++ runtime.
    let library = unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) }.map_err(|error| refused(reason_of(&error, &shown)))?;
    // SAFETY: the type is the one that every version of the library has.
    let get_api = unsafe { library.get::<unsafe extern "C" fn(i32) -> *const rcap_api>(b"rcap_get_api\0") };
    let get_api = *get_api.map_err(|_| refused("is not routecap: it has no rcap_get_api".to_owned()))?;
    // SAFETY: the library is linked so that it stays once it was loaded (nodelete), and it is not closed where its table is used.
    let table = unsafe { table_of(&shown, get_api) }?;
    std::mem::forget(library);
    Ok(table)
}

/// The dynamic linker's words, which `libloading` keeps behind its own. They mostly begin with the path itself, which stands before them already.
fn reason_of(error: &libloading::Error, name: &str) -> String {
    let words = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    words.strip_prefix(name).and_then(|rest| rest.strip_prefix(": ")).map_or(words.clone(), ToOwned::to_owned)
}

/// In a setuid program the environment is somebody else's.
fn is_privileged() -> bool {
    unsafe extern "C" {
        fn getauxval(kind: core::ffi::c_ulong) -> core::ffi::c_ulong;
    }
    const AT_SECURE: core::ffi::c_ulong = 23;
    // SAFETY: it takes any number.
    unsafe { getauxval(AT_SECURE) != 0 }
}
