// SPDX-License-Identifier: Apache-2.0

//! Records in the forms that others read and write (R37, R41).

use std::ffi::{CStr, c_void};
use std::fmt;
use std::str::FromStr;

use routecap_sys as sys;

use crate::array::Array;
use crate::enums::{Code, DType, Format, Missing};
use crate::error::{call, filled};
use crate::library::c_string;
use crate::record::Record;
use crate::{Error, Result};

impl Format {
    /// Its name, for example `frame-base64`; `unknown` for a number that the library does not know.
    #[must_use]
    pub fn name(self) -> &'static str {
        let Ok(table) = sys::api() else { return "unknown" };
        // SAFETY: it takes any number and gives a static text.
        unsafe { CStr::from_ptr((table.wire_format_name)(self.raw())) }.to_str().unwrap_or("unknown")
    }

    /// The form that bytes are in, told by their content alone. [`Format::SgLang`] has no mark and is never found.
    pub fn detect(bytes: &[u8]) -> Result<Format> {
        let (given, mut format) = (Array::new(bytes), 0);
        // SAFETY: the bytes are as many as they say.
        unsafe { call!(wire_detect(given.as_ptr(), given.bytes(), &raw mut format)) }?;
        Ok(Format::from_raw(format))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let (name, mut format) = (c_string("the form's name", name)?, 0);
        // SAFETY: the name is zero-terminated.
        unsafe { call!(wire_format_of(name.as_ptr(), &raw mut format)) }?;
        Ok(Format::from_raw(format))
    }
}

/// Options of an encoder. What a form has no use for stays as it is in the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct EncodeOptions {
    dtype: DType,
    missing: Missing,
    fill_id: i32,
    zstd_level: i32,
    turn: i64,
    decode_start: Option<i64>,
}

impl EncodeOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// dtype of ids in [`Format::SgLang`] (`Int32`, `UInt8`, `UInt16`), [`Format::Vllm`] and [`Format::Npy`] (`UInt8`, `UInt16`, `Int16`, `Int32`, `Int64`).
    pub fn dtype(mut self, dtype: DType) -> Self {
        self.dtype = dtype;
        self
    }

    /// Writes -1 into a missing cell where the form cannot say so; only into a signed dtype.
    pub fn missing_as_minus_one(mut self) -> Self {
        self.missing = Missing::MinusOne;
        self
    }

    /// Writes `first`, `first + 1`, … modulo E into a missing cell where the form cannot say so.
    pub fn missing_as(mut self, first: i32) -> Self {
        (self.missing, self.fill_id) = (Missing::Fill, first);
        self
    }

    /// Zstandard level of a frame's parts, 1 .. 19; 0 stores them as they are.
    pub fn zstd_level(mut self, level: i32) -> Self {
        self.zstd_level = level;
        self
    }

    /// Value of [`Format::Csv`]'s turn column.
    pub fn turn(mut self, turn: i64) -> Self {
        self.turn = turn;
        self
    }

    /// First token position of the decode phase, for [`Format::Csv`]; without it all is prefill.
    pub fn decode_start(mut self, position: i64) -> Self {
        self.decode_start = Some(position);
        self
    }

    pub(crate) fn layout(&self) -> sys::rcap_encode_options {
        let defaults = sys::rcap_encode_options::DEFAULT;
        sys::rcap_encode_options {
            dtype: self.dtype.raw(),
            missing: self.missing.raw(),
            fill_id: self.fill_id,
            zstd_level: self.zstd_level,
            turn: self.turn,
            decode_start: self.decode_start.unwrap_or(defaults.decode_start),
            ..defaults
        }
    }
}

/// What a decoder is told where the bytes do not say it. A fact that the bytes carry may be left out; given, it must agree.
#[derive(Clone, Copy, Debug, Default)]
#[must_use]
pub struct DecodeHints<'a> {
    layout: sys::rcap_decode_hints,
    layer_ids: Option<&'a [i32]>,
}

impl<'a> DecodeHints<'a> {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Token position of the first row.
    pub fn start(mut self, start: i64) -> Self {
        self.layout.start = start;
        self
    }

    /// Rows.
    pub fn rows(mut self, rows: i64) -> Self {
        self.layout.rows = rows;
        self
    }

    /// Logical routed experts E.
    pub fn num_experts(mut self, experts: i32) -> Self {
        self.layout.num_experts = experts;
        self
    }

    /// K.
    pub fn top_k(mut self, top_k: i32) -> Self {
        self.layout.top_k = top_k;
        self
    }

    /// Layers of the layer axis, numbered from 0.
    pub fn num_layers(mut self, layers: i32) -> Self {
        self.layout.num_layers = layers;
        self
    }

    /// Layer number of every column, ascending, in place of [`DecodeHints::num_layers`].
    pub fn layer_ids(mut self, layer_ids: &'a [i32]) -> Self {
        self.layer_ids = Some(layer_ids);
        self
    }

    /// dtype of the flat array, where it is not the form's default.
    pub fn dtype(mut self, dtype: DType) -> Self {
        self.layout.dtype = dtype.raw();
        self
    }

    /// Which turn of [`Format::Csv`] to read.
    pub fn turn(mut self, turn: i64) -> Self {
        self.layout.turn = turn;
        self
    }
}

/// Asks for the size, makes room, encodes.
pub(crate) fn encode_into(buffer: &mut Vec<u8>, encode: impl Fn(*mut c_void, i64, *mut i64) -> Result<i32>) -> Result<()> {
    let mut needed = 0;
    encode(std::ptr::null_mut(), 0, &raw mut needed)?;
    loop {
        buffer.reserve(needed as usize);
        let room = buffer.spare_capacity_mut();
        let (capacity, before) = (room.len() as i64, needed);
        match encode(room.as_mut_ptr().cast(), capacity, &raw mut needed) {
            Ok(_) => break,
            // A slot that was written since then may need more.
            Err(error) if error.code() == Code::OutOfRange && needed > before.max(capacity) => {}
            Err(error) => return Err(error),
        }
    }
    // SAFETY: the library wrote `needed` bytes behind the buffer's end, inside its capacity.
    unsafe { buffer.set_len(buffer.len() + needed as usize) };
    Ok(())
}

impl Record {
    /// The record in a form.
    pub fn encode(&self, format: Format, options: &EncodeOptions) -> Result<Vec<u8>> {
        let mut buffer = Vec::new();
        self.encode_into(&mut buffer, format, options)?;
        Ok(buffer)
    }

    /// Appends the record in a form to a buffer.
    pub fn encode_into(&self, buffer: &mut Vec<u8>, format: Format, options: &EncodeOptions) -> Result<()> {
        let layout = options.layout();
        encode_into(buffer, |room, bytes, needed| {
            // SAFETY: the record is open, the room as long as it says.
            unsafe { call!(record_encode(self.raw(), format.raw(), &raw const layout, room, bytes, needed)) }
        })
    }

    /// Reads a record from a form. It never guesses: a fact that is neither in the bytes nor in the hints is an error that names the hint. Nothing may
    /// stand behind the record.
    pub fn decode(format: Format, bytes: &[u8], hints: &DecodeHints<'_>) -> Result<Record> {
        let (record, rest) = Self::decode_prefix(format, bytes, hints)?;
        if rest.is_empty() {
            return Ok(record);
        }
        Err(Error::refused(Code::Corrupt, format!("{} bytes stand behind the {format} of {} bytes", rest.len(), bytes.len() - rest.len())))
    }

    /// [`Record::decode`] of frames that stand one behind the other: also gives what stands behind the first.
    pub fn decode_prefix<'a>(format: Format, bytes: &'a [u8], hints: &DecodeHints<'_>) -> Result<(Record, &'a [u8])> {
        let given = Array::new(bytes);
        let (mut handle, mut consumed) = (std::ptr::null_mut(), 0);
        let (data, count) = (given.as_ptr(), given.bytes());
        let (layer_ids, layer_ids_count) = hints.layer_ids.map_or((std::ptr::null(), 0), |list| (list.as_ptr(), list.len() as i64));
        // SAFETY: bytes and list are as long as they say.
        unsafe {
            call!(record_decode(format.raw(), data, count, &raw const hints.layout, layer_ids, layer_ids_count, &raw mut handle, &raw mut consumed))
        }?;
        let record = Record::new(filled(handle)?)?;
        Ok((record, bytes.get(consumed as usize..).unwrap_or_default()))
    }
}
