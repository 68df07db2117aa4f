// SPDX-License-Identifier: Apache-2.0

//! Records made of records.

use routecap_sys as sys;

use crate::Result;
use crate::enums::{Fill, Overlap, ReadFlags};
use crate::error::{call, filled};
use crate::record::Record;
use crate::structs::CompareReport;

/// A call that makes a record out of `self` and more.
macro_rules! derive {
    ($function:ident($($argument:expr),*)) => {{
        let mut handle = std::ptr::null_mut();
        // SAFETY: the records are open; lists are as long as they say.
        unsafe { call!($function($($argument,)* &raw mut handle)) }?;
        Record::new(filled(handle)?)
    }};
}

fn list(positions: Option<&[i64]>) -> (*const i64, i64) {
    positions.map_or((std::ptr::null(), 0), |list| (list.as_ptr(), list.len() as i64))
}

impl Record {
    /// A new record of the token positions `start .. end`: byte for byte what a read from `start` would have given (R3, R4).
    pub fn slice_positions(&self, positions: std::ops::Range<i64>) -> Result<Record> {
        derive!(record_slice(self.raw(), positions.start, positions.end))
    }

    /// A new record of this one's rows and then another's, which starts inside this one or right behind it (R5, R39). Where both hold a position, `overlap`
    /// decides.
    pub fn append(&self, next: &Record, overlap: Overlap) -> Result<Record> {
        derive!(record_append(self.raw(), next.raw(), overlap.raw()))
    }

    /// A new record of a request served by a prefill and a decode engine: positions below the boundary from this record, the others from `decode` (R40).
    pub fn merge(&self, decode: &Record, boundary: i64) -> Result<Record> {
        derive!(record_merge(self.raw(), decode.raw(), boundary))
    }

    /// A new record for a request cut to fewer tokens: positions below tokens - 1, with [`ReadFlags::INCLUDE_LAST`] below tokens (R4).
    pub fn truncate(&self, tokens: i64, flags: ReadFlags) -> Result<Record> {
        derive!(record_truncate(self.raw(), tokens, flags.bits()))
    }

    /// A new record of the same tokens with the layers of both: stages of a pipeline (R44).
    pub fn stack(&self, other: &Record) -> Result<Record> {
        derive!(record_stack(self.raw(), other.raw()))
    }

    /// A new record of token positions that context parallelism dealt out to two ranks (R45): the token position of each of this record's rows and of the
    /// other's; `None` is start, start + 1, and so on, and a list of another length is refused. A position that nobody named is missing.
    pub fn interleave(&self, positions: Option<&[i64]>, other: &Record, other_positions: Option<&[i64]>) -> Result<Record> {
        let (own, others) = (list(positions), list(other_positions));
        derive!(record_interleave(self.raw(), own.0, own.1, other.raw(), others.0, others.1))
    }

    /// A new record with a column for every layer 0 .. layers - 1 of the model (R26). With [`Fill::Value`] the added ones hold `fill_id` K times.
    pub fn to_full_axis(&self, layers: i32, fill: Fill, fill_id: i32) -> Result<Record> {
        derive!(record_to_full_axis(self.raw(), layers, fill.raw(), fill_id))
    }

    /// A new record with some of this one's layers alone, named ascending.
    pub fn to_compact(&self, layer_ids: &[i32]) -> Result<Record> {
        derive!(record_to_compact(self.raw(), layer_ids.as_ptr(), layer_ids.len() as i64))
    }

    /// Compares two records on the positions that both hold.
    pub fn compare(&self, other: &Record) -> Result<CompareReport> {
        self.compare_into(other, &mut [])
    }

    /// [`Record::compare`], and for each column of this record the cells that differ in ids where the shapes are the same.
    pub fn compare_by_layer(&self, other: &Record) -> Result<(CompareReport, Vec<i64>)> {
        let mut by_layer = vec![0; self.info().num_layers as usize];
        let report = self.compare_into(other, &mut by_layer)?;
        Ok((report, by_layer))
    }

    fn compare_into(&self, other: &Record, by_layer: &mut [i64]) -> Result<CompareReport> {
        let mut report = sys::rcap_compare_report::DEFAULT;
        let count = by_layer.len() as i64;
        let into = if count == 0 { std::ptr::null_mut() } else { by_layer.as_mut_ptr() };
        // SAFETY: the records are open, the list is as long as it says, the struct has its size set.
        unsafe { call!(record_compare(self.raw(), other.raw(), &raw mut report, into, count)) }?;
        Ok((&report).into())
    }
}
