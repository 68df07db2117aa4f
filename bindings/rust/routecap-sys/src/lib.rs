// SPDX-License-Identifier: Apache-2.0

//! Raw bindings of [libroutecap](https://github.com/routecap/routecap): the C API as it is. The crate `routecap` is the safe one on top.
//!
//! Declarations are committed, made from the same SWIG interface as the Go and Java bindings; a build needs neither libclang nor the net. The library is
//! found by `ROUTECAP_LIB_DIR`, else by pkg-config; with the feature `dynamic-loading` it is looked for at the first call instead.
//!
//! Every function is there twice: by its name in C, and in the function table that [`api`] gives. The table is what to call where the library may be
//! absent: `api` then says which places were tried, and nothing panics.

#![allow(non_camel_case_types)]

#[rustfmt::skip]
#[allow(clippy::doc_markdown, clippy::must_use_candidate, clippy::too_many_arguments)]
mod ffi;
#[cfg(feature = "dynamic-loading")]
mod elf;
#[cfg(feature = "dynamic-loading")]
mod load;

use std::fmt;

pub use ffi::*;

/// The installed header as bindgen read it when this crate was built. Its functions are declared a second time, with its own handles.
#[cfg(feature = "buildtime-bindgen")]
#[allow(
    clashing_extern_declarations,
    missing_docs,
    non_upper_case_globals,
    unreachable_pub,
    missing_debug_implementations,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks
)]
pub mod bindgen {
    include!(env!("ROUTECAP_BINDGEN"));

    /// The same as text.
    pub const SOURCE: &str = include_str!(env!("ROUTECAP_BINDGEN"));
}

/// A place where the library was looked for, and why it is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tried {
    /// File or SONAME, as the dynamic linker was given it; `linked library` where the program was linked to it.
    pub name: String,
    /// What is wrong with it.
    pub reason: String,
}

/// There is no library that has the functions of these bindings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadError {
    /// Every place that was tried: what `ROUTECAP_LIBRARY` names where it is set, else the SONAME.
    pub tried: Vec<Tried>,
}

impl fmt::Display for LoadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("libroutecap cannot be used")?;
        for Tried { name, reason } in &self.tried {
            write!(out, "; {name}: {reason}")?;
        }
        Ok(())
    }
}

impl std::error::Error for LoadError {}

/// Takes a table that has every function of these bindings, whatever stands behind them.
///
/// # Safety
///
/// `get_api` is `rcap_get_api` of a library that stays in the process.
unsafe fn table_of(name: &str, get_api: unsafe extern "C" fn(i32) -> *const rcap_api) -> Result<&'static rcap_api, LoadError> {
    let refused = |reason: String| LoadError { tried: vec![Tried { name: name.to_owned(), reason }] };
    // SAFETY: the function takes any number, and answers null or a table that is never freed.
    let Some(table) = (unsafe { get_api(RCAP_ABI_VERSION).cast::<[i64; 2]>().as_ref() }) else {
        return Err(refused(format!("is too old: it has no ABI {RCAP_ABI_VERSION}")));
    };
    let pointer = size_of::<unsafe extern "C" fn()>() as i64;
    let functions = (table[0] - size_of::<[i64; 2]>() as i64) / pointer;
    if table[0] < size_of::<rcap_api>() as i64 {
        let first = usize::try_from(functions).ok().and_then(|at| FUNCTIONS.get(at)).map_or("rcap_error_init", |one| one.name);
        return Err(refused(format!("is too old: has {functions} functions, needs {}; the first it lacks is {first}", FUNCTIONS.len())));
    }
    // SAFETY: it is as long as this crate's table, and its functions are those of the ABI that was asked for.
    Ok(unsafe { &*std::ptr::from_ref(table).cast::<rcap_api>() })
}

/// The function table of the linked library.
#[cfg(not(feature = "dynamic-loading"))]
fn find() -> Result<&'static rcap_api, LoadError> {
    // SAFETY: it is the library's, which is linked.
    unsafe { table_of("linked library", rcap_get_api) }
}

#[cfg(feature = "dynamic-loading")]
use load::find;

static TABLE: std::sync::OnceLock<Result<&'static rcap_api, LoadError>> = std::sync::OnceLock::new();

/// The function table. The first call finds the library, and every later one gives the same answer.
///
/// # Errors
///
/// Where there is no library, or one that lacks functions of these bindings; the error names the places tried. Without the feature `dynamic-loading`
/// that is only a linked library that is too old.
#[inline]
pub fn api() -> Result<&'static rcap_api, &'static LoadError> {
    TABLE.get_or_init(find).as_ref().copied()
}

/// The table for the functions that go by their names in C.
#[cfg(feature = "dynamic-loading")]
#[inline]
fn loaded() -> &'static rcap_api {
    match api() {
        Ok(table) => table,
        Err(error) => panic!("{error}"),
    }
}

impl fmt::Debug for rcap_api {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("rcap_api").field("struct_size", &self.struct_size).field("abi", &self.abi).finish_non_exhaustive()
    }
}

macro_rules! opaque_debug {
    ($($handle:ident),*) => { $(
        impl fmt::Debug for $handle {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(out, concat!(stringify!($handle), "({:p})"), self)
            }
        }
    )* };
}
opaque_debug!(rcap_backend, rcap_capturer, rcap_model, rcap_tap, rcap_output, rcap_record);
