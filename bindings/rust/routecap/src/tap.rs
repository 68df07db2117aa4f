// SPDX-License-Identifier: Apache-2.0

//! Handing a layer's ids over.

use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use routecap_sys as sys;

use crate::array::{Array, Element, Stream};
use crate::capturer::{IdMap, Inner, TapId};
use crate::enums::{Code, DType};
use crate::error::{call, filled};
use crate::{Error, Result};

/// One batch of a layer's top-k ids: `[tokens, columns]`, columns adjacent.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Capture<'a> {
    ids: Array<'a>,
    weights: Array<'a>,
    row_ids: Array<'a>,
    columns: i32,
    tokens: Option<i64>,
    first_row: i64,
    ids_row_stride: i64,
    weights_row_stride: i64,
    stream: Stream,
}

impl<'a> Capture<'a> {
    /// Ids of `i64`, `i32`, `i16`, `u16` or `u8`, with K columns, or K and the fused shared experts'. As many tokens as the array has rows; the last one need
    /// not fill its stride. An array that ends inside a row is refused by [`Tap::capture`], unless [`Capture::tokens`] says how many rows are meant.
    #[inline]
    pub fn new(ids: impl Into<Array<'a>>, columns: i32) -> Self {
        Self {
            ids: ids.into(),
            weights: Array::NONE,
            row_ids: Array::NONE,
            columns,
            tokens: None,
            first_row: 0,
            ids_row_stride: 0,
            weights_row_stride: 0,
            stream: Stream::DEFAULT,
        }
    }

    /// Rows handed over, where the array's size does not say it.
    pub fn tokens(mut self, tokens: i64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Row of the device buffer that the first of them belongs to.
    pub fn first_row(mut self, row: i64) -> Self {
        self.first_row = row;
        self
    }

    /// Weights `[tokens, columns]`: `f32`, or of the dtype that the capturer keeps. Required where weights are kept, else ignored (R29).
    pub fn weights(mut self, weights: impl Into<Array<'a>>) -> Self {
        self.weights = weights.into();
        self
    }

    /// Partial taps only: given row i belongs to device row `first_row + row_ids[i]`; `i32`, as many as tokens. Not called, row i is `first_row + i`.
    pub fn row_ids(mut self, row_ids: impl Into<Array<'a>>) -> Self {
        self.row_ids = row_ids.into();
        self
    }

    /// Bytes between the starts of two rows of ids; 0 where they are adjacent.
    pub fn ids_row_stride(mut self, bytes: i64) -> Self {
        self.ids_row_stride = bytes;
        self
    }

    /// The same for weights.
    pub fn weights_row_stride(mut self, bytes: i64) -> Self {
        self.weights_row_stride = bytes;
        self
    }

    /// Stream that the work is queued on.
    pub fn stream(mut self, stream: Stream) -> Self {
        self.stream = stream;
        self
    }

    /// Rows handed over; `None` where the ids end inside a row, which would be left out without a word.
    #[inline]
    fn count(&self) -> Option<i64> {
        if self.tokens.is_some() {
            return self.tokens;
        }
        let element = match self.ids.dtype() {
            DType::Int64 => 8,
            DType::Int32 | DType::Float32 => 4,
            DType::Int16 | DType::UInt16 | DType::Float16 | DType::BFloat16 => 2,
            _ => 1,
        };
        let (row, bytes) = (i64::from(self.columns) * element, self.ids.bytes());
        // What is wrong with columns or stride is the library's to say.
        let stride = if self.ids_row_stride > 0 { self.ids_row_stride } else { row };
        if row <= 0 || stride < row || bytes == 0 {
            return Some(0);
        }
        // The last row need not fill its stride.
        let (whole, rest) = (bytes / stride, bytes % stride);
        match rest {
            0 => Some(whole),
            rest if rest >= row => Some(whole + 1),
            _ => None,
        }
    }

    #[cold]
    fn ends_inside_a_row(&self) -> Error {
        let (bytes, columns, dtype, stride) = (self.ids.bytes(), self.columns, self.ids.dtype(), self.ids_row_stride);
        let strided = if stride > 0 { format!(" at a row stride of {stride} bytes") } else { String::new() };
        Error::refused(
            Code::InvalidArgument,
            format!("the ids have {bytes} bytes, which end inside a row of {columns} columns of {dtype:?}{strided}"),
        )
    }

    fn one_memory(&self) -> Result<()> {
        for (what, other) in [("the weights", &self.weights), ("the row ids", &self.row_ids)] {
            if other.is_given() && other.memory() != self.ids.memory() {
                let text =
                    format!("{what} lie in {:?} memory and the ids in {:?} memory; a capture takes one kind", other.memory(), self.ids.memory());
                return Err(Error::refused(Code::InvalidArgument, text));
            }
        }
        Ok(())
    }
}

/// The place of one MoE layer of one model where ids are handed over.
///
/// A tap has one caller: capturing needs `&mut`, and there is one `Tap` of a number at a time, which [`crate::Sealed::tap`] gives and dropping it gives
/// back. One that `std::mem::forget` took stays in use: that is sound, but nobody gets this tap again, and the capturer's memory is never given back, since
/// a tap keeps it alive. Different taps may be used at once, on any threads, beside everything else.
pub struct Tap<'a> {
    handle: NonNull<sys::rcap_tap>,
    id: TapId,
    inner: Arc<Inner>,
    borrow: PhantomData<&'a ()>,
}

// SAFETY: handles may move between threads, and there is one `Tap` of a handle.
unsafe impl Send for Tap<'_> {}
// SAFETY: what takes `&self` is tagged `any` without a condition.
unsafe impl Sync for Tap<'_> {}

impl<'a> Tap<'a> {
    pub(crate) fn take(inner: &Arc<Inner>, id: TapId) -> Result<Tap<'a>> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: the capturer is open and sealed.
        unsafe { call!(capturer_tap(inner.raw(), id.0, &raw mut handle)) }?;
        let handle = filled(handle)?;
        let mut taps = inner.taps();
        match taps.get_mut(id.0 as usize) {
            Some(place) if !place.taken => place.taken = true,
            _ => return Err(Error::refused(Code::InvalidState, format!("tap {} is in use; a tap has one caller", id.0))),
        }
        Ok(Tap { handle, id, inner: Arc::clone(inner), borrow: PhantomData })
    }

    /// Hands rows over: narrowed, mapped, counted, written to the device cache. Allocates nothing and waits for nothing. What does not fit the device buffer
    /// is refused before a byte is written (R14); on a draft's tap nothing is looked at and the call is counted (R18).
    #[inline]
    pub fn capture(&mut self, capture: &Capture<'_>) -> Result<()> {
        if capture.weights.is_given() || capture.row_ids.is_given() {
            capture.one_memory()?;
        }
        let tokens = match capture.count() {
            Some(tokens) => tokens,
            // A denied tap looks at nothing (R18).
            None if self.is_enabled()? => return Err(capture.ends_inside_a_row()),
            None => 0,
        };
        let layout = sys::rcap_capture_layout {
            struct_size: size_of::<sys::rcap_capture_layout>() as i64,
            ids_dtype: capture.ids.dtype().raw(),
            weights_dtype: capture.weights.dtype().raw(),
            memory: capture.ids.memory().raw(),
            columns: capture.columns,
            tokens,
            first_row: capture.first_row,
            ids_row_stride: capture.ids_row_stride,
            weights_row_stride: capture.weights_row_stride,
        };
        let (ids, weights) = (&capture.ids, &capture.weights);
        let (row_ids, row_ids_count) = capture.row_ids.elements::<i32>("the row ids")?;
        let stream = capture.stream.raw();
        // SAFETY: the tap lives, `&mut self` is its one caller, and the arrays are as long as they say and outlive the call, or their maker promised
        // what device memory must.
        unsafe {
            call!(tap_capture(
                self.handle.as_ptr(),
                &raw const layout,
                ids.as_ptr(),
                ids.bytes(),
                weights.as_ptr(),
                weights.bytes(),
                row_ids,
                row_ids_count,
                stream
            ))
        }?;
        Ok(())
    }

    /// Whether captures on this tap are written, or only counted because its model is denied.
    pub fn is_enabled(&self) -> Result<bool> {
        // SAFETY: the tap lives.
        Ok(unsafe { call!(tap_is_enabled(self.handle.as_ptr())) }? != 0)
    }

    /// Its number.
    #[must_use]
    pub fn id(&self) -> TapId {
        self.id
    }

    /// Rewrites the physical-to-logical map that the tap was added with (R22), between forwards. It has the same number of entries, of the same type.
    pub fn set_id_map<T: Element + Into<i64>>(&mut self, map: &[T]) -> Result<()> {
        let taps = self.inner.taps();
        let place = taps.get(self.id.0 as usize).and_then(|place| place.map.as_ref());
        let (into, entries, dtype) = match place {
            Some(IdMap::Int32(kept)) => (kept.cast::<T>(), kept.len(), DType::Int32),
            Some(IdMap::Int64(kept)) => (kept.cast::<T>(), kept.len(), DType::Int64),
            None => return Err(Error::refused(Code::InvalidState, format!("tap {} was added without a map", self.id.0))),
        };
        if dtype != T::DTYPE || entries != map.len() {
            let text = format!("the map has {} entries of {:?}, the tap's {entries} of {dtype:?}", map.len(), T::DTYPE);
            return Err(Error::refused(Code::InvalidArgument, text));
        }
        // SAFETY: the kept map has as many entries of this type, and only captures on this tap read it, which would need `&mut self`.
        unsafe { std::ptr::copy_nonoverlapping(map.as_ptr(), into, entries) };
        Ok(())
    }
}

impl Drop for Tap<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.inner.taps().get_mut(self.id.0 as usize) {
            place.taken = false;
        }
    }
}

impl fmt::Debug for Tap<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Tap").field("id", &self.id.0).field("enabled", &self.is_enabled()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Capture;

    #[test]
    fn rows_are_counted_from_the_array() {
        let ids = [0_i16; 14];
        let count = |elements: usize, columns: i32, stride: i64| Capture::new(&ids[..elements], columns).ids_row_stride(stride).count();
        assert_eq!([14, 7, 0].map(|elements| count(elements, 7, 0)), [Some(2), Some(1), Some(0)]);
        // The last row need not fill its stride, of 4 elements; what is behind it there may be left out in part.
        assert_eq!([14, 12, 11, 10, 2].map(|elements| count(elements, 2, 8)), [Some(4), Some(3), Some(3), Some(3), Some(1)]);
        // A row that is there in part is not left out without a word.
        assert_eq!([13, 8, 6, 1].map(|elements| count(elements, 7, 0)), [None; 4]);
        assert_eq!([13, 9, 5, 1].map(|elements| count(elements, 2, 8)), [None; 4]);
        assert_eq!(Capture::new(&ids, i32::MAX).count(), None);
        assert_eq!([count(14, 0, 0), count(14, -3, 0), count(14, 7, 6)], [Some(0); 3]);
        assert_eq!(Capture::new(&ids[..13], 7).tokens(9).count(), Some(9));
    }
}
