// SPDX-License-Identifier: Apache-2.0

//! What a refused call says.

use std::ffi::{CStr, c_char};
use std::fmt;
use std::io::ErrorKind;
use std::mem::MaybeUninit;

use routecap_sys as sys;

use crate::enums::Code;

/// There is no library, or one that is too old; every place that was tried, and why it was not used.
pub use routecap_sys::LoadError;

/// A call that was refused or failed. What was refused, with which value, against which limit, is in [`Error::text`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The library refused the call and changed nothing, or failed.
    #[error("{code}: {text}")]
    #[non_exhaustive]
    Refused {
        /// What kind of failure it is.
        code: Code,
        /// One line: what was refused, with which value, against which limit.
        text: Box<str>,
    },
    /// What was asked for is not there yet.
    #[error("NOT_READY{}", Lacking(*sequence))]
    #[non_exhaustive]
    NotReady {
        /// The number of the forward that is lacking, where a read or a slot waits for one.
        sequence: Option<i64>,
    },
    /// Every staging block is in flight (R32). Finalize the oldest output and call again.
    #[error("BUSY: every staging block is in flight")]
    Busy,
    /// The given time has passed.
    #[error("TIMEOUT: the given time has passed")]
    Timeout,
    /// There is no library that can be called.
    #[error(transparent)]
    Library(#[from] LoadError),
    /// A frame's input or output failed: what a [`FrameError`](crate::FrameError) becomes behind `?`.
    #[error("{text}")]
    #[non_exhaustive]
    Io {
        /// What kind of failure it is; [`ErrorKind::UnexpectedEof`] is an input that ends inside a frame.
        kind: ErrorKind,
        /// What the input or output says of it.
        text: Box<str>,
    },
}

struct Lacking(Option<i64>);

impl fmt::Display for Lacking {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |sequence| write!(out, ": sequence {sequence} is lacking"))
    }
}

impl Error {
    /// The status that the call answered, or would have where there is no library to ask. Of a frame's input or output, `CORRUPT` where the input ends
    /// inside a frame, `OUT_OF_MEMORY`, or else `INVALID_ARGUMENT`: what was passed to read from or write to failed.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Error::Refused { code, .. } => *code,
            Error::NotReady { .. } => Code::NotReady,
            Error::Busy => Code::Busy,
            Error::Timeout => Code::Timeout,
            Error::Library(_) => Code::NotFound,
            Error::Io { kind: ErrorKind::UnexpectedEof, .. } => Code::Corrupt,
            Error::Io { kind: ErrorKind::OutOfMemory, .. } => Code::OutOfMemory,
            Error::Io { .. } => Code::InvalidArgument,
        }
    }

    /// The library's one line; empty for what is an answer rather than a fault (BUSY, `NOT_READY`, TIMEOUT).
    #[must_use]
    pub fn text(&self) -> &str {
        if let Error::Refused { text, .. } | Error::Io { text, .. } = self { text } else { "" }
    }

    #[cold]
    pub(crate) fn refused(code: Code, text: impl Into<String>) -> Self {
        Error::Refused { code, text: text.into().into_boxed_str() }
    }
}

impl From<&LoadError> for Error {
    fn from(error: &LoadError) -> Self {
        Error::Library(error.clone())
    }
}

impl Code {
    /// Its name in C without the prefix, for example `OUT_OF_RANGE`; `UNKNOWN` for a number that the library does not know.
    #[must_use]
    pub fn name(self) -> &'static str {
        let Ok(table) = sys::api() else { return "UNKNOWN" };
        // SAFETY: it takes any number and gives a static text.
        let name = unsafe { CStr::from_ptr((table.status_name)(self.raw())) };
        name.to_str().map_or("UNKNOWN", |name| name.trim_start_matches("RCAP_STATUS_"))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// Room for what a failing call says. Only its size is set: filling 256 bytes would cost more than most calls.
pub(crate) struct Failed(MaybeUninit<sys::rcap_error>);

impl Failed {
    #[inline]
    pub(crate) fn new() -> Self {
        let mut failed = MaybeUninit::<sys::rcap_error>::uninit();
        // SAFETY: the field lies in the struct, which nobody reads meanwhile.
        unsafe { (&raw mut (*failed.as_mut_ptr()).struct_size).write(size_of::<sys::rcap_error>() as i64) };
        Self(failed)
    }

    #[inline]
    pub(crate) fn as_mut_ptr(&mut self) -> *mut sys::rcap_error {
        self.0.as_mut_ptr()
    }

    /// The error of a call's answer; predicates answer 0 and above.
    #[inline]
    pub(crate) fn check(&self, status: i32) -> Result<i32, Error> {
        if status >= 0 { Ok(status) } else { Err(self.error(status)) }
    }

    #[cold]
    fn error(&self, status: i32) -> Error {
        let failed = self.0.as_ptr();
        match Code::from_raw(status) {
            Code::Busy => Error::Busy,
            Code::Timeout => Error::Timeout,
            // SAFETY: a call that failed has set the field.
            Code::NotReady => match unsafe { (*failed).detail } {
                0 => Error::NotReady { sequence: None },
                sequence => Error::NotReady { sequence: Some(sequence) },
            },
            code => {
                // SAFETY: a call that failed has written a text and the zero behind it.
                let text = unsafe { CStr::from_ptr((&raw const (*failed).text).cast::<c_char>()) };
                Error::refused(code, text.to_string_lossy())
            }
        }
    }
}

/// A zero-terminated field of a struct.
pub(crate) fn text(field: &[c_char]) -> String {
    let bytes: Vec<u8> = field.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Calls a function of the table with room for an error behind its arguments, and makes its answer a `Result`. To be used inside `unsafe`.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        let table = routecap_sys::api()?;
        let mut failed = $crate::error::Failed::new();
        let status = (table.$function)($($argument,)* failed.as_mut_ptr());
        failed.check(status)
    }};
}
pub(crate) use call;

/// Ends a handle; without a library there is none.
macro_rules! destroy {
    ($function:ident($handle:expr)) => {
        if let Ok(table) = routecap_sys::api() {
            (table.$function)($handle);
        }
    };
}
pub(crate) use destroy;

/// A handle that a successful call has filled.
pub(crate) fn filled<T>(handle: *mut T) -> Result<std::ptr::NonNull<T>, Error> {
    std::ptr::NonNull::new(handle).ok_or_else(|| Error::refused(Code::Internal, "the library answered OK and gave no handle"))
}

#[cfg(test)]
mod tests {
    use super::{Code, Error, Failed, text};

    #[test]
    fn a_call_that_failed_fills_the_struct() {
        let mut failed = Failed::new();
        let raw = failed.as_mut_ptr();
        assert_eq!(failed.check(3).unwrap(), 3);
        // SAFETY: as the library does it: code, detail, and a text with its zero; the rest stays as it was.
        unsafe {
            assert_eq!((*raw).struct_size, 256);
            (&raw mut (*raw).detail).write(9);
            for (at, byte) in b"slot is 7\0".iter().enumerate() {
                (&raw mut (*raw).text).cast::<u8>().add(at).write(*byte);
            }
        }
        assert_eq!(failed.check(Code::OutOfRange.raw()).unwrap_err().text(), "slot is 7");
        assert_eq!(failed.check(Code::NotReady.raw()).unwrap_err(), Error::NotReady { sequence: Some(9) });
        assert_eq!(failed.check(Code::Busy.raw()).unwrap_err(), Error::Busy);
    }

    #[test]
    fn a_field_ends_at_its_zero() {
        assert_eq!(text(&[104, 105, 0, 120]), "hi");
        assert_eq!(text(&[104, 105]), "hi");
    }
}
