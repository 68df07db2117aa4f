// SPDX-License-Identifier: Apache-2.0

//! Reading a request's rows by its slots.

use std::ffi::c_void;
use std::time::Duration;

use routecap_sys as sys;

use crate::array::{Array, ArrayMut};
use crate::config::nanoseconds;
use crate::enums::{Format, ReadFlags, SlotUnit};
use crate::error::{call, filled};
use crate::record::Record;
use crate::sealed::Reader;
use crate::structs::ReadInfo;
use crate::wire::{EncodeOptions, encode_into};
use crate::{Result, Sealed};

/// Which rows of a request are wanted.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Read<'a> {
    layout: sys::rcap_read_layout,
    slots: Array<'a>,
    tags: Option<&'a [i64]>,
}

impl<'a> Read<'a> {
    /// The rows of a request of `tokens` tokens, prompt and generated: 0 .. tokens-2 exist (R1). Slot of token 0 .. tokens-2, and of the last one if wanted,
    /// `i32` or `i64`; -1 reads as missing (R3).
    pub fn new(slots: impl Into<Array<'a>>, tokens: i64) -> Self {
        let slots = slots.into();
        let layout = sys::rcap_read_layout { slots_dtype: slots.dtype_or_int64(), tokens, ..Default::default() };
        Self { layout, slots, tags: None }
    }

    /// First token wanted (R3).
    pub fn start(mut self, start: i64) -> Self {
        self.layout.start = start;
        self
    }

    /// Number of the request's last forward: the read needs it, and earlier ones that may change these slots, to be settled (R36).
    pub fn after_sequence(mut self, sequence: i64) -> Self {
        self.layout.after_sequence = sequence;
        self
    }

    /// Longest wait for what is lacking; without it the answer comes at once.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.layout.timeout_ns = nanoseconds(timeout);
        self
    }

    /// The list names pages: token i stands in page i / `page_size` of it.
    pub fn pages(mut self) -> Self {
        self.layout.unit = SlotUnit::Page.raw();
        self
    }

    /// Also the last token's row, if its slot is given and valid (R2).
    pub fn include_last(mut self) -> Self {
        self.layout.flags = ReadFlags::INCLUDE_LAST.bits();
        self
    }

    /// Where tags are kept: the tag that each token's row must have (R8).
    pub fn tags(mut self, tags: &'a [i64]) -> Self {
        self.tags = Some(tags);
        self
    }

    fn tags_parts(&self) -> (*const i64, i64) {
        self.tags.map_or((std::ptr::null(), 0), |tags| (tags.as_ptr(), tags.len() as i64))
    }
}

/// Where [`Reader::read_into`] writes. Ids are `[rows, L, K]` of the capturer's dtype; what lies behind the needed part is left alone.
#[derive(Debug)]
#[must_use]
pub struct ReadBuffers<'a> {
    ids: ArrayMut<'a>,
    weights: Option<ArrayMut<'a>>,
    validity: Option<&'a mut [u8]>,
}

impl<'a> ReadBuffers<'a> {
    /// Room for the ids.
    pub fn new(ids: impl Into<ArrayMut<'a>>) -> Self {
        Self { ids: ids.into(), weights: None, validity: None }
    }

    /// Room for the weights, where they are kept.
    pub fn weights(mut self, weights: impl Into<ArrayMut<'a>>) -> Self {
        self.weights = Some(weights.into());
        self
    }

    /// Room for the row bitmap, and behind it the cell bitmap where there are partial taps.
    pub fn validity(mut self, validity: &'a mut [u8]) -> Self {
        self.validity = Some(validity);
        self
    }
}

impl Reader {
    /// Reads a request's rows into a new record. Rows nobody captured are missing (R7). A read never finalizes: what it would have to wait for is
    /// [`crate::Error::NotReady`], with the number that is lacking.
    pub fn read(&self, read: &Read<'_>) -> Result<Record> {
        read.slots.on_host("the slots of a read")?;
        let (tags, tags_count) = read.tags_parts();
        let mut handle = std::ptr::null_mut();
        let (slots, bytes) = (read.slots.as_ptr(), read.slots.bytes());
        // SAFETY: the capturer is open; the lists are as long as they say.
        unsafe { call!(capturer_read(self.inner.raw(), &raw const read.layout, slots, bytes, tags, tags_count, &raw mut handle)) }?;
        Record::new(filled(handle)?)
    }

    /// [`Reader::read`] into the caller's memory, without allocating. Too small is `OUT_OF_RANGE`: [`Reader::read_needs`] tells what is needed.
    pub fn read_into(&self, read: &Read<'_>, mut buffers: ReadBuffers<'_>) -> Result<ReadInfo> {
        buffers.ids.must_be(self.inner.ids_dtype, "ids")?;
        if let Some(weights) = &buffers.weights {
            weights.must_be(self.inner.weights_dtype, "weights")?;
        }
        let (weights, weights_bytes) = buffers.weights.as_mut().map_or((std::ptr::null_mut(), 0), ArrayMut::parts);
        let validity = buffers.validity.as_deref_mut();
        let (validity, validity_bytes) = validity.map_or((std::ptr::null_mut(), 0), |room| (room.as_mut_ptr().cast::<c_void>(), room.len() as i64));
        let (ids, ids_bytes) = buffers.ids.parts();
        self.fill(read, (ids, ids_bytes), (weights, weights_bytes), (validity, validity_bytes))
    }

    /// What [`Reader::read_into`] needs.
    pub fn read_needs(&self, read: &Read<'_>) -> Result<ReadInfo> {
        let none = (std::ptr::null_mut(), 0);
        self.fill(read, none, none, none)
    }

    fn fill(&self, read: &Read<'_>, ids: (*mut c_void, i64), weights: (*mut c_void, i64), validity: (*mut c_void, i64)) -> Result<ReadInfo> {
        read.slots.on_host("the slots of a read")?;
        let (tags, tags_count) = read.tags_parts();
        let (slots, bytes) = (read.slots.as_ptr(), read.slots.bytes());
        let mut info = sys::rcap_read_info::DEFAULT;
        // SAFETY: the capturer is open; lists and buffers are as long as they say, and nobody else has the buffers.
        unsafe {
            call!(capturer_read_into(
                self.inner.raw(),
                &raw const read.layout,
                slots,
                bytes,
                tags,
                tags_count,
                ids.0,
                ids.1,
                weights.0,
                weights.1,
                validity.0,
                validity.1,
                &raw mut info
            ))
        }?;
        Ok((&info).into())
    }

    /// Reads a request's rows and appends them to a buffer in a form, in one pass and without a record between.
    pub fn encode_into(&self, buffer: &mut Vec<u8>, read: &Read<'_>, format: Format, options: &EncodeOptions) -> Result<()> {
        read.slots.on_host("the slots of a read")?;
        let (tags, tags_count) = read.tags_parts();
        let (slots, bytes) = (read.slots.as_ptr(), read.slots.bytes());
        let layout = options.layout();
        encode_into(buffer, |room, room_bytes, needed| {
            // SAFETY: as for `read`; the room is as long as it says.
            unsafe {
                call!(capturer_encode(
                    self.inner.raw(),
                    &raw const read.layout,
                    slots,
                    bytes,
                    tags,
                    tags_count,
                    format.raw(),
                    &raw const layout,
                    room,
                    room_bytes,
                    needed
                ))
            }
        })
    }
}

// Sealed derefs to Reader.
const _: fn(&Sealed) -> &Reader = |sealed| sealed;
