// SPDX-License-Identifier: Apache-2.0

//! The library itself, and the places where rows are captured.

use std::ffi::{CStr, CString, c_void};
use std::fmt;
use std::ptr::NonNull;

use routecap_sys as sys;

use crate::enums::{Code, RowsKind};
use crate::error::{call, destroy, filled};
use crate::structs::{BackendInfo, BuildInfo};
use crate::{Error, Result};

/// The library's product version, for example `0.1.0`.
pub fn version() -> Result<&'static str> {
    let table = sys::api()?;
    // SAFETY: the text is static and ASCII.
    Ok(unsafe { CStr::from_ptr((table.version_string)()) }.to_str().unwrap_or_default())
}

/// The library's ABI number.
pub fn abi_version() -> Result<i32> {
    let table = sys::api()?;
    // SAFETY: it takes nothing.
    Ok(unsafe { (table.abi_version)() })
}

/// How the library was built and what it uses on this machine.
pub fn build_info() -> Result<BuildInfo> {
    let mut info = sys::rcap_build_info::DEFAULT;
    // SAFETY: the struct has its size set.
    unsafe { call!(build_info_get(&raw mut info)) }?;
    Ok((&info).into())
}

pub(crate) fn c_string(what: &str, text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::refused(Code::InvalidArgument, format!("{what} has a zero byte: {text:?}")))
}

/// How the ranks' rows stand in the device buffer; asks for the place of one rank (R16).
#[derive(Clone, Copy, Debug)]
pub struct RankRows<'a> {
    kind: RowsKind,
    tokens_per_rank: &'a [i64],
    rank: i64,
    attention_tp: i64,
    attention_tp_rank: i64,
    padded: i64,
}

impl<'a> RankRows<'a> {
    /// Rank `rank` of the data-parallel ranks that have so many tokens each.
    #[must_use]
    pub fn new(kind: RowsKind, tokens_per_rank: &'a [i64], rank: i64) -> Self {
        Self { kind, tokens_per_rank, rank, attention_tp: 1, attention_tp_rank: 0, padded: 0 }
    }

    /// Attention tensor parallel size, and this rank in it; read by `Concatenated` (the size) and `Sharded`.
    #[must_use]
    pub fn attention_tp(mut self, size: i64, rank: i64) -> Self {
        (self.attention_tp, self.attention_tp_rank) = (size, rank);
        self
    }

    /// Rows of each rank's share, read by `Padded`.
    #[must_use]
    pub fn padded_tokens_per_rank(mut self, rows: i64) -> Self {
        self.padded = rows;
        self
    }

    /// First row and number of rows of the rank.
    pub fn place(&self) -> Result<(i64, i64)> {
        let (mut first_row, mut tokens) = (0, 0);
        let (ranks, count) = (self.tokens_per_rank.as_ptr(), self.tokens_per_rank.len() as i64);
        let (tp, tp_rank) = (self.attention_tp, self.attention_tp_rank);
        // SAFETY: the slice is as long as it says, and both numbers are written where they stand.
        unsafe { call!(layout_rows(self.kind.raw(), ranks, count, self.rank, tp, tp_rank, self.padded, &raw mut first_row, &raw mut tokens)) }?;
        Ok((first_row, tokens))
    }
}

/// A place where rows are captured: the host (built in) or an accelerator (a plugin). Capturers keep theirs alive.
pub struct Backend {
    handle: NonNull<sys::rcap_backend>,
}

// SAFETY: handles may move between threads, and destroying needs `self`.
unsafe impl Send for Backend {}
// SAFETY: what takes `&self` is tagged `any`.
unsafe impl Sync for Backend {}

impl Backend {
    /// Opens the backend that is built in, which runs no code but the library's.
    pub fn host() -> Result<Self> {
        // SAFETY: no plugin is loaded for this name.
        unsafe { Self::open("host") }
    }

    /// Opens a backend by its name or by the absolute path of a plugin, on its first device.
    ///
    /// # Safety
    ///
    /// A backend other than `host` is a shared library whose code runs in this process from the moment it is loaded (its initializers run even where it
    /// is then refused), and no check of this crate reaches into it. What the name or path leads to must be sound, and built for this library's plugin
    /// interface. A name is looked for in the folders of the environment's `ROUTECAP_BACKEND_PATH` too (not in a setuid program): whoever sets that variable
    /// chooses what is run.
    pub unsafe fn open(name: &str) -> Result<Self> {
        // SAFETY: the caller's promise.
        unsafe { Self::open_device(name, 0, 0) }
    }

    /// Opens a backend on one device of its kind. `threads` is what it may use for one call; 0 is its default.
    ///
    /// # Safety
    ///
    /// As for [`Backend::open`].
    pub unsafe fn open_device(name: &str, device_ordinal: i32, threads: i32) -> Result<Self> {
        let name = c_string("the backend's name", name)?;
        let options = sys::rcap_backend_options { device_ordinal, threads, ..Default::default() };
        let mut handle = std::ptr::null_mut();
        // SAFETY: name and options live during the call, and the caller answers for what is loaded.
        unsafe { call!(backend_open(name.as_ptr(), &raw const options, &raw mut handle)) }?;
        Ok(Self { handle: filled(handle)? })
    }

    /// Where a backend of that name is looked for and what is there: one line a place. Loads what can be loaded, opens nothing.
    ///
    /// # Safety
    ///
    /// Loading runs a plugin's code: as for [`Backend::open`], for every plugin of that name that is found.
    pub unsafe fn search(name: &str) -> Result<String> {
        let name = c_string("the backend's name", name)?;
        let mut lines: Vec<u8> = Vec::new();
        loop {
            let mut needed = 0;
            let room = if lines.is_empty() { std::ptr::null_mut() } else { lines.as_mut_ptr().cast::<c_void>() };
            // SAFETY: the buffer is as long as it says, and the caller answers for what is loaded.
            let found = unsafe { call!(backend_search(name.as_ptr(), room, lines.len() as i64, &raw mut needed)) };
            match found {
                Ok(_) => {
                    lines.truncate(lines.iter().position(|byte| *byte == 0).unwrap_or(lines.len()));
                    return Ok(String::from_utf8_lossy(&lines).into_owned());
                }
                // What is found in between may be more.
                Err(error) if error.code() == Code::OutOfRange && needed > lines.len() as i64 => lines.resize(needed as usize, 0),
                Err(error) => return Err(error),
            }
        }
    }

    /// Its properties and counters.
    pub fn describe(&self) -> Result<BackendInfo> {
        let mut info = sys::rcap_backend_info::DEFAULT;
        // SAFETY: the handle is open, the struct has its size set.
        unsafe { call!(backend_describe(self.handle.as_ptr(), &raw mut info)) }?;
        Ok((&info).into())
    }

    pub(crate) fn raw(&self) -> *mut sys::rcap_backend {
        self.handle.as_ptr()
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        // SAFETY: nobody else has it any more.
        unsafe { destroy!(backend_destroy(self.handle.as_ptr())) };
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Backend").field("info", &self.describe()).finish_non_exhaustive()
    }
}
