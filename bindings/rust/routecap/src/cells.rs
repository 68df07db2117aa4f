// SPDX-License-Identifier: Apache-2.0

//! A record's arrays where they lie, and its rows.

use std::fmt;
use std::ops::Deref;

use crate::array::{BF16, F16, Weight};
use crate::record::Record;

/// `[rows, layers, K]` numbers of a record, row-major. It derefs to the slice; nothing is copied.
#[derive(Clone, Copy)]
pub struct Cells<'a, T> {
    values: &'a [T],
    shape: [usize; 3],
}

impl<'a, T> Cells<'a, T> {
    pub(crate) fn new(values: &'a [T], shape: [usize; 3]) -> Self {
        debug_assert_eq!(values.len(), shape.iter().product::<usize>());
        Self { values, shape }
    }

    /// Rows, layers, K.
    #[must_use]
    pub fn shape(&self) -> [usize; 3] {
        self.shape
    }

    /// The K numbers of a row, counted from 0, in a column.
    ///
    /// # Panics
    ///
    /// Where there is no such row or column.
    #[must_use]
    pub fn cell(&self, row: usize, column: usize) -> &'a [T] {
        let [rows, layers, k] = self.shape;
        assert!(row < rows && column < layers, "cell ({row}, {column}) of {rows} rows and {layers} layers");
        let first = (row * layers + column) * k;
        &self.values[first..first + k]
    }

    /// The slice, for as long as the record lives.
    #[must_use]
    pub fn as_slice(&self) -> &'a [T] {
        self.values
    }

    /// The same as a view of `ndarray`'s.
    ///
    /// # Panics
    ///
    /// Never: the shape is the slice's.
    #[cfg(feature = "ndarray")]
    #[must_use]
    pub fn to_ndarray(&self) -> ndarray::ArrayView3<'a, T> {
        ndarray::ArrayView3::from_shape(self.shape, self.values).expect("the shape is the slice's")
    }
}

impl<T> Deref for Cells<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.values
    }
}

impl<T> fmt::Debug for Cells<'_, T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Cells").field("shape", &self.shape).finish_non_exhaustive()
    }
}

/// A record's ids, of the dtype that its number of experts gives (R28). Cells that are not valid are 0xFF in every byte.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Ids<'a> {
    /// Up to 256 experts.
    UInt8(Cells<'a, u8>),
    /// Up to 65536.
    UInt16(Cells<'a, u16>),
    /// More.
    Int32(Cells<'a, i32>),
}

/// A record's weights, of the dtype that it keeps.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Weights<'a> {
    /// IEEE 754 binary16.
    Float16(Cells<'a, F16>),
    /// bfloat16.
    BFloat16(Cells<'a, BF16>),
    /// IEEE 754 binary32.
    Float32(Cells<'a, f32>),
}

impl<'a> Ids<'a> {
    fn cell(&self, row: usize, column: usize) -> Experts<'a> {
        match self {
            Ids::UInt8(cells) => Experts::UInt8(cells.cell(row, column)),
            Ids::UInt16(cells) => Experts::UInt16(cells.cell(row, column)),
            Ids::Int32(cells) => Experts::Int32(cells.cell(row, column)),
        }
    }
}

/// The K experts of a token in a layer, in the kernel's order (R24).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Experts<'a> {
    /// Up to 256 experts.
    UInt8(&'a [u8]),
    /// Up to 65536.
    UInt16(&'a [u16]),
    /// More.
    Int32(&'a [i32]),
}

impl<'a> Experts<'a> {
    /// One after the other.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = i32> + use<'a> {
        let experts = *self;
        (0..experts.len()).map(move |index| experts.at(index))
    }

    /// K.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Experts::UInt8(ids) => ids.len(),
            Experts::UInt16(ids) => ids.len(),
            Experts::Int32(ids) => ids.len(),
        }
    }

    /// Never: K is at least 1.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As numbers of one type.
    #[must_use]
    pub fn to_vec(&self) -> Vec<i32> {
        self.iter().collect()
    }

    fn at(&self, index: usize) -> i32 {
        match self {
            Experts::UInt8(ids) => i32::from(ids[index]),
            Experts::UInt16(ids) => i32::from(ids[index]),
            Experts::Int32(ids) => ids[index],
        }
    }
}

/// One token's row of a record.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    record: &'a Record,
    index: usize,
}

impl<'a> Row<'a> {
    /// Position of the token.
    #[must_use]
    pub fn position(&self) -> i64 {
        self.record.info().start + self.index as i64
    }

    /// Whether the row was captured (R7).
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.record.is_row_valid(self.index)
    }

    /// The experts of a column; `None` where the cell is missing.
    ///
    /// # Panics
    ///
    /// Where there is no such column.
    #[must_use]
    pub fn experts(&self, column: usize) -> Option<Experts<'a>> {
        self.record.is_cell_valid(self.index, column).then(|| self.record.ids().cell(self.index, column))
    }

    /// The weights of a column; `None` where the cell is missing or no weights are kept.
    ///
    /// # Panics
    ///
    /// Where there is no such column.
    #[must_use]
    pub fn weights(&self, column: usize) -> Option<impl ExactSizeIterator<Item = f32> + use<'a>> {
        if !self.record.is_cell_valid(self.index, column) {
            return None;
        }
        let (weights, index) = (self.record.weights()?, self.index);
        let k = self.record.info().top_k as usize;
        Some((0..k).map(move |at| match &weights {
            Weights::Float16(cells) => cells.cell(index, column)[at].to_f32(),
            Weights::BFloat16(cells) => cells.cell(index, column)[at].to_f32(),
            Weights::Float32(cells) => Weight::to_f32(cells.cell(index, column)[at]),
        }))
    }
}

/// The rows of a record, ascending by position.
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    record: &'a Record,
    next: usize,
    end: usize,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(record: &'a Record) -> Self {
        Self { record, next: 0, end: record.info().rows as usize }
    }
}

impl<'a> Iterator for Rows<'a> {
    type Item = Row<'a>;

    fn next(&mut self) -> Option<Row<'a>> {
        let index = self.next;
        (index < self.end).then(|| {
            self.next += 1;
            Row { record: self.record, index }
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.end - self.next, Some(self.end - self.next))
    }
}

impl DoubleEndedIterator for Rows<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        (self.next < self.end).then(|| {
            self.end -= 1;
            Row { record: self.record, index: self.end }
        })
    }
}

impl ExactSizeIterator for Rows<'_> {}
