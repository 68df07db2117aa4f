// SPDX-License-Identifier: Apache-2.0

//! Rows that left the library.

use std::ffi::c_void;
use std::fmt;
use std::ptr::NonNull;

use routecap_sys as sys;

use crate::array::{Array, Element, Id, Weight};
use crate::cells::{Cells, Ids, Rows, Weights};
use crate::enums::{Code, DType, TapFlags, WeightsKind};
use crate::error::{call, destroy, filled};
use crate::structs::RecordInfo;
use crate::{Error, Result};

/// Rows that left the library: it owns its bytes, knows its geometry, and never changes. `Send` and `Sync`; usable when its capturer is gone.
///
/// Its arrays are slices of its own memory, and what looks at them costs no call.
pub struct Record {
    handle: NonNull<sys::rcap_record>,
    info: RecordInfo,
    ids: Borrowed,
    weights: Borrowed,
    row_validity: Borrowed,
    cell_validity: Borrowed,
    layer_ids: Borrowed,
    layer_flags: Borrowed,
    version_starts: Borrowed,
    versions: Borrowed,
}

// SAFETY: a record never changes, and every function on it is tagged `any`.
unsafe impl Send for Record {}
// SAFETY: the same.
unsafe impl Sync for Record {}

/// Memory of the record's, aligned to 8 bytes or to its elements: address and number of elements.
#[derive(Clone, Copy)]
struct Borrowed {
    data: *const c_void,
    count: usize,
}

impl Borrowed {
    /// The memory as a slice, for as long as the record lives that this lies in.
    ///
    /// # Safety
    ///
    /// It holds `count` elements of `T`, aligned and unchanged.
    unsafe fn slice<T>(&self, count: usize) -> &[T] {
        if count == 0 {
            return &[];
        }
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(self.data.cast(), count) }
    }
}

fn must_be<T: Element>(dtype: DType, what: &str) -> Result<()> {
    if dtype == T::DTYPE {
        Ok(())
    } else {
        Err(Error::refused(Code::InvalidArgument, format!("the record's {what} are {dtype:?}, not {:?}", T::DTYPE)))
    }
}

impl Record {
    /// Takes a handle over and asks once for everything that is borrowed from it.
    pub(crate) fn new(handle: NonNull<sys::rcap_record>) -> Result<Self> {
        let none = Borrowed { data: std::ptr::null(), count: 0 };
        let mut info = sys::rcap_record_info::DEFAULT;
        let raw = handle.as_ptr();
        // Destroys the handle also where one of the calls below fails.
        let mut record = Self {
            handle,
            info: RecordInfo::from(&info),
            ids: none,
            weights: none,
            row_validity: none,
            cell_validity: none,
            layer_ids: none,
            layer_flags: none,
            version_starts: none,
            versions: none,
        };
        macro_rules! borrow {
            ($($function:ident => $field:ident),*) => { $(
                let (mut data, mut count) = (std::ptr::null(), 0);
                // SAFETY: the record is open; pointer and number are written where they stand.
                unsafe { call!($function(raw, &raw mut data, &raw mut count)) }?;
                record.$field = Borrowed { data: data.cast(), count: count as usize };
            )* };
        }
        // SAFETY: the record is open, the struct has its size set.
        unsafe { call!(record_info_get(raw, &raw mut info)) }?;
        record.info = RecordInfo::from(&info);
        borrow!(record_ids => ids, record_weights => weights, record_row_validity => row_validity, record_cell_validity => cell_validity);
        borrow!(record_layer_ids => layer_ids, record_layer_flags => layer_flags);
        let (mut starts, mut versions, mut count) = (std::ptr::null(), std::ptr::null(), 0);
        // SAFETY: as above.
        unsafe { call!(record_version_spans(raw, &raw mut starts, &raw mut versions, &raw mut count)) }?;
        record.version_starts = Borrowed { data: starts.cast(), count: count as usize };
        record.versions = Borrowed { data: versions.cast(), count: count as usize };
        Ok(record)
    }

    pub(crate) fn raw(&self) -> *const sys::rcap_record {
        self.handle.as_ptr()
    }

    /// Its geometry.
    #[must_use]
    pub fn info(&self) -> &RecordInfo {
        &self.info
    }

    fn shape(&self) -> [usize; 3] {
        [self.info.rows as usize, self.info.num_layers as usize, self.info.top_k as usize]
    }

    fn cells<'a, T: Element>(&'a self, from: &'a Borrowed) -> Cells<'a, T> {
        // SAFETY: the library gives bytes of whole elements of this dtype, aligned to 8 bytes; every bit pattern is a value.
        Cells::new(unsafe { from.slice(from.count / size_of::<T>()) }, self.shape())
    }

    /// The ids `[rows, L, K]`.
    #[must_use]
    pub fn ids(&self) -> Ids<'_> {
        match self.info.ids_dtype {
            DType::UInt8 => Ids::UInt8(self.cells(&self.ids)),
            DType::UInt16 => Ids::UInt16(self.cells(&self.ids)),
            _ => Ids::Int32(self.cells(&self.ids)),
        }
    }

    /// The ids as elements of one type; another than the record's is refused.
    pub fn ids_as<T: Id>(&self) -> Result<Cells<'_, T>> {
        must_be::<T>(self.info.ids_dtype, "ids")?;
        Ok(self.cells(&self.ids))
    }

    /// The weights `[rows, L, K]`, where they are kept.
    #[must_use]
    pub fn weights(&self) -> Option<Weights<'_>> {
        match self.info.weights_dtype {
            DType::Float16 => Some(Weights::Float16(self.cells(&self.weights))),
            DType::BFloat16 => Some(Weights::BFloat16(self.cells(&self.weights))),
            DType::Float32 => Some(Weights::Float32(self.cells(&self.weights))),
            _ => None,
        }
    }

    /// The weights as elements of one type; another than the record's is refused.
    pub fn weights_as<T: Weight>(&self) -> Result<Cells<'_, T>> {
        must_be::<T>(self.info.weights_dtype, "weights")?;
        Ok(self.cells(&self.weights))
    }

    /// A copy of the ids `[rows, L, K]`, -1 in every cell that is missing.
    #[must_use]
    pub fn to_i32(&self) -> Vec<i32> {
        let [_, layers, k] = self.shape();
        let mut ids = match self.ids() {
            Ids::UInt8(ids) => ids.iter().copied().map(i32::from).collect(),
            Ids::UInt16(ids) => ids.iter().copied().map(i32::from).collect(),
            Ids::Int32(ids) => ids.to_vec(),
        };
        for (cell, experts) in ids.chunks_exact_mut(k).enumerate() {
            if !self.is_cell_valid(cell / layers, cell % layers) {
                experts.fill(-1);
            }
        }
        ids
    }

    /// The row bitmap: bit i of byte i/8, from the lowest, is 1 if row i was captured (R7).
    #[must_use]
    pub fn row_validity(&self) -> &[u8] {
        // SAFETY: bytes.
        unsafe { self.row_validity.slice(self.row_validity.count) }
    }

    /// The cell bitmap, bit row * L + column; empty where valid rows are valid in every column.
    #[must_use]
    pub fn cell_validity(&self) -> &[u8] {
        // SAFETY: bytes.
        unsafe { self.cell_validity.slice(self.cell_validity.count) }
    }

    /// Whether a row, counted from 0, was captured.
    ///
    /// # Panics
    ///
    /// Where there is no such row.
    #[must_use]
    pub fn is_row_valid(&self, row: usize) -> bool {
        bit(self.row_validity(), row)
    }

    /// Whether a row has a column, both counted from 0.
    ///
    /// # Panics
    ///
    /// Where there is no such row or column.
    #[must_use]
    pub fn is_cell_valid(&self, row: usize, column: usize) -> bool {
        let [_, layers, _] = self.shape();
        assert!(column < layers, "column {column} of {layers}");
        let cells = self.cell_validity();
        if cells.is_empty() { self.is_row_valid(row) } else { bit(cells, row * layers + column) }
    }

    /// Model layer number of every column (R26).
    #[must_use]
    pub fn layer_ids(&self) -> &[i32] {
        // SAFETY: the library's numbers of this type.
        unsafe { self.layer_ids.slice(self.layer_ids.count) }
    }

    /// Flags of every column (R24, R26).
    #[must_use]
    pub fn layer_flags(&self) -> &[TapFlags] {
        // SAFETY: the library's int32_t, of which TapFlags is made.
        unsafe { self.layer_flags.slice(self.layer_flags.count) }
    }

    /// Runs of rows with one weight version: token position of the first row of each, ascending, and its version.
    #[must_use]
    pub fn version_spans(&self) -> impl ExactSizeIterator<Item = (i64, i64)> + '_ {
        // SAFETY: the library's numbers of this type, as many of both.
        let (starts, versions) =
            unsafe { (self.version_starts.slice::<i64>(self.version_starts.count), self.versions.slice::<i64>(self.versions.count)) };
        starts.iter().copied().zip(versions.iter().copied())
    }

    /// The rows, ascending by position.
    #[must_use]
    pub fn rows(&self) -> Rows<'_> {
        Rows::new(self)
    }

    /// A record from the caller's arrays: E, K, and the model layer number of every column.
    pub fn builder(num_experts: i32, top_k: i32, layer_ids: &[i32]) -> RecordBuilder<'_> {
        let layout = sys::rcap_record_layout { num_experts, top_k, ..Default::default() };
        RecordBuilder { layout, layer_ids, layer_flags: None, ids: Array::NONE, weights: Array::NONE, validity: Array::NONE, rows: None }
    }
}

fn bit(bitmap: &[u8], index: usize) -> bool {
    bitmap[index / 8] >> (index % 8) & 1 != 0
}

impl Drop for Record {
    fn drop(&mut self) {
        // SAFETY: nobody else has it any more, and nothing is borrowed from it.
        unsafe { destroy!(record_destroy(self.handle.as_ptr())) };
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Record").field("info", &self.info).finish_non_exhaustive()
    }
}

/// Two records are the same if their geometry, layers, flags, validity, ids, weights and version spans are.
impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        self.compare(other).is_ok_and(|report| report.equal)
    }
}

impl Eq for Record {}

/// What a record is made of; the arrays are copied.
#[derive(Clone, Copy, Debug)]
#[must_use = "create() makes the record"]
pub struct RecordBuilder<'a> {
    layout: sys::rcap_record_layout,
    layer_ids: &'a [i32],
    layer_flags: Option<&'a [TapFlags]>,
    ids: Array<'a>,
    weights: Array<'a>,
    validity: Array<'a>,
    rows: Option<i64>,
}

impl<'a> RecordBuilder<'a> {
    /// Ids `[rows, L, K]` of the dtype that E gives: `u8` up to 256, `u16` up to 65536, else `i32` (R28). They say how many rows there are.
    pub fn ids<T: Id>(mut self, ids: &'a [T]) -> Self {
        self.ids = Array::new(ids);
        let cells = self.layer_ids.len() as i64 * i64::from(self.layout.top_k);
        self.rows = (cells > 0).then(|| ids.len() as i64 / cells);
        self
    }

    /// Token position of the first row.
    pub fn start(mut self, start: i64) -> Self {
        self.layout.start = start;
        self
    }

    /// Flags of every column; partial anywhere means that cells have a validity of their own.
    pub fn layer_flags(mut self, flags: &'a [TapFlags]) -> Self {
        self.layer_flags = Some(flags);
        self
    }

    /// Weights `[rows, L, K]`, and what they mean.
    pub fn weights<T: Weight>(mut self, weights: &'a [T], kind: WeightsKind) -> Self {
        self.weights = Array::new(weights);
        self.layout.weights_kind = kind.raw();
        self
    }

    /// The row bitmap, and behind it the cell bitmap where a column is partial; where it is not called all is valid. A bitmap of another
    /// size than the rows make it, an empty one too, is `INVALID_ARGUMENT`.
    pub fn validity(mut self, validity: &'a [u8]) -> Self {
        self.validity = Array::new(validity);
        self
    }

    /// Weight version of all rows.
    pub fn weight_version(mut self, version: i64) -> Self {
        self.layout.weight_version = version;
        self
    }

    /// Makes the record.
    pub fn create(&self) -> Result<Record> {
        let experts = self.layout.num_experts;
        let wanted = match experts {
            ..=256 => DType::UInt8,
            257..=65536 => DType::UInt16,
            _ => DType::Int32,
        };
        if self.ids.is_given() && self.ids.dtype() != wanted {
            return Err(Error::refused(Code::InvalidArgument, format!("ids of {experts} experts are {wanted:?}, not {:?}", self.ids.dtype())));
        }
        let layout = sys::rcap_record_layout { rows: self.rows.unwrap_or(0), weights_dtype: self.weights.dtype().raw(), ..self.layout };
        let flags: (*const i32, i64) = self.layer_flags.map_or((std::ptr::null(), 0), |flags| (flags.as_ptr().cast(), flags.len() as i64));
        let mut handle = std::ptr::null_mut();
        // SAFETY: every array is as long as it says; TapFlags are int32_t.
        unsafe {
            call!(record_create(
                &raw const layout,
                self.layer_ids.as_ptr(),
                self.layer_ids.len() as i64,
                flags.0,
                flags.1,
                self.ids.as_ptr(),
                self.ids.bytes(),
                self.weights.as_ptr(),
                self.weights.bytes(),
                self.validity.as_ptr(),
                self.validity.bytes(),
                &raw mut handle
            ))
        }?;
        Record::new(filled(handle)?)
    }
}
