// SPDX-License-Identifier: Apache-2.0

//! What a trainer needs to replay a record (R42, R43): dense ids for its tokens and layers, and the splits of its parallelism, each with its exact
//! inverse.
//!
//! A batch is a *pack*: sequences one behind the other, each padded to a multiple. [`pack_offsets`] says where each begins (a trainer's `cu_seqlens`),
//! [`pack_pad`] and [`pack_strip`] go there and back, a [`Partition`] deals the pack out over context and sequence parallelism, and a [`Stage`] says
//! which layers a pipeline stage has.

use std::ffi::c_void;

use routecap_sys as sys;

use crate::Result;
use crate::array::{ArrayMut, Element};
use crate::enums::{AxisOrder, Padding, Split};
use crate::error::call;
use crate::record::Record;

/// What [`Record::fill`] writes.
#[derive(Clone, Debug)]
#[must_use]
pub struct Dense<'a> {
    layout: sys::rcap_fill_layout,
    layer_ids: Option<&'a [i32]>,
    positions: Option<&'a [i64]>,
}

impl<'a> Dense<'a> {
    /// Rows 0 .. `tokens` of a sequence of `length` tokens, the last one included; rows behind it are padding. The record may not reach behind it.
    pub fn new(length: i64, tokens: i64) -> Self {
        Self { layout: sys::rcap_fill_layout { length, tokens, ..Default::default() }, layer_ids: None, positions: None }
    }

    /// Token position of the first row.
    pub fn start(mut self, start: i64) -> Self {
        self.layout.start = start;
        self
    }

    /// Token position of every row, -1 for padding, in place of 0, 1 and so on.
    pub fn positions(mut self, positions: &'a [i64]) -> Self {
        self.positions = Some(positions);
        self.layout.tokens = positions.len() as i64;
        self
    }

    /// Model layer numbers of the columns, in this order, in place of all of the record's.
    pub fn layer_ids(mut self, layer_ids: &'a [i32]) -> Self {
        self.layer_ids = Some(layer_ids);
        self
    }

    /// Order of the axes.
    pub fn order(mut self, order: AxisOrder) -> Self {
        self.layout.order = order.raw();
        self
    }

    /// What stands in rows without ids, in place of K distinct ids.
    pub fn value(mut self, value: i32) -> Self {
        self.layout.padding = Padding::Value.raw();
        self.layout.fill_value = value;
        self
    }

    /// Number of the first filled row in the formula of [`Padding::Spread`]: what earlier calls for the same batch filled, so that they do not load the
    /// same experts.
    pub fn first_fill(mut self, first_fill: i64) -> Self {
        self.layout.first_fill = first_fill;
        self
    }
}

impl Record {
    /// Writes the ids as a trainer replays them: `[tokens, layers, K]` of any integers that hold them, every row filled (R42). Masks have a byte for
    /// every row, and for every row and layer: 1 where the ids are the engine's. Gives the number of rows that were filled in some layer.
    pub fn fill<'b>(
        &self,
        dense: &Dense<'_>,
        ids: impl Into<ArrayMut<'b>>,
        row_mask: Option<&mut [u8]>,
        cell_mask: Option<&mut [u8]>,
    ) -> Result<i64> {
        let mut ids = ids.into();
        let layout = sys::rcap_fill_layout { dtype: ids.dtype().raw(), ..dense.layout };
        let (layers, layers_count) = dense.layer_ids.map_or((std::ptr::null(), 0), |list| (list.as_ptr(), list.len() as i64));
        let (positions, positions_count) = dense.positions.map_or((std::ptr::null(), 0), |list| (list.as_ptr(), list.len() as i64));
        let ((ids, ids_bytes), rows, cells) = (ids.parts(), room(row_mask), room(cell_mask));
        let mut filled = 0;
        // SAFETY: the record is open; lists and buffers are as long as they say, and nobody else has the buffers.
        unsafe {
            call!(record_fill(
                self.raw(),
                &raw const layout,
                layers,
                layers_count,
                positions,
                positions_count,
                ids,
                ids_bytes,
                rows.0,
                rows.1,
                cells.0,
                cells.1,
                &raw mut filled
            ))
        }?;
        Ok(filled)
    }
}

fn room(mask: Option<&mut [u8]>) -> (*mut c_void, i64) {
    mask.map_or((std::ptr::null_mut(), 0), |bytes| (bytes.as_mut_ptr().cast(), bytes.len() as i64))
}

fn input<T: Element>(elements: &[T]) -> (*const c_void, i64) {
    (elements.as_ptr().cast(), size_of_val(elements) as i64)
}

fn output<T: Element>(elements: &mut [T]) -> (*mut c_void, i64) {
    (elements.as_mut_ptr().cast(), size_of_val(elements) as i64)
}

/// Bytes of an item of so many elements; more than there can be is refused by the library.
fn item_bytes<T: Element>(per_item: usize) -> i64 {
    i64::try_from(per_item.saturating_mul(size_of::<T>())).unwrap_or(i64::MAX)
}

/// Where each sequence begins when each is padded to a multiple, and last the pack's tokens: a trainer's `cu_seqlens` (R43).
pub fn pack_offsets(lengths: &[i64], multiple: i64) -> Result<Vec<i64>> {
    let mut offsets = vec![0; lengths.len() + 1];
    let count = offsets.len() as i64;
    // SAFETY: the lists are as long as they say.
    unsafe { call!(pack_offsets(lengths.as_ptr(), lengths.len() as i64, multiple, offsets.as_mut_ptr(), count)) }?;
    Ok(offsets)
}

/// Copies sequences that stand one behind the other to their places in a pack and writes `pad`, one item, behind each; `None` is zero bytes. An item is
/// `per_token` elements: it works on anything that has an item for every token.
pub fn pack_pad<T: Element>(lengths: &[i64], offsets: &[i64], per_token: usize, pad: Option<&[T]>, tokens: &[T], packed: &mut [T]) -> Result<()> {
    let (pad, tokens, packed) = (pad.map_or((std::ptr::null(), 0), input), input(tokens), output(packed));
    // SAFETY: lists and arrays are as long as they say; nobody else has what is written.
    unsafe {
        call!(pack_pad(
            lengths.as_ptr(),
            lengths.len() as i64,
            offsets.as_ptr(),
            offsets.len() as i64,
            item_bytes::<T>(per_token),
            pad.0,
            pad.1,
            tokens.0,
            tokens.1,
            packed.0,
            packed.1
        ))
    }?;
    Ok(())
}

/// Copies the sequences out of a pack, one behind the other, without their padding: the inverse of [`pack_pad`].
pub fn pack_strip<T: Element>(lengths: &[i64], offsets: &[i64], per_token: usize, packed: &[T], tokens: &mut [T]) -> Result<()> {
    let (packed, tokens) = (input(packed), output(tokens));
    // SAFETY: lists and arrays are as long as they say; nobody else has what is written.
    unsafe {
        call!(pack_strip(
            lengths.as_ptr(),
            lengths.len() as i64,
            offsets.as_ptr(),
            offsets.len() as i64,
            item_bytes::<T>(per_token),
            packed.0,
            packed.1,
            tokens.0,
            tokens.1
        ))
    }?;
    Ok(())
}

/// How a pack of sequences is dealt out, and which rank this is: every sequence over context parallelism, and each rank's tokens, one after the other,
/// over sequence parallelism in equal contiguous slices (R43).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    /// How context parallelism deals out a sequence.
    pub split: Split,
    /// Context-parallel ranks.
    pub cp_size: i32,
    /// This one.
    pub cp_rank: i32,
    /// Sequence-parallel (tensor-parallel) ranks.
    pub sp_size: i32,
    /// This one.
    pub sp_rank: i32,
}

impl Default for Partition {
    /// One rank that has everything.
    fn default() -> Self {
        Self { split: Split::Contiguous, cp_size: 1, cp_rank: 0, sp_size: 1, sp_rank: 0 }
    }
}

impl Partition {
    fn layout(&self) -> sys::rcap_partition_layout {
        sys::rcap_partition_layout {
            split: self.split.raw(),
            cp_size: self.cp_size,
            cp_rank: self.cp_rank,
            sp_size: self.sp_size,
            sp_rank: self.sp_rank,
            ..Default::default()
        }
    }

    /// What every sequence of a pack must be a multiple of. Ranks are not looked at.
    pub fn multiple(&self) -> Result<i64> {
        let (layout, mut multiple) = (self.layout(), 0);
        // SAFETY: both live during the call.
        unsafe { call!(partition_multiple(&raw const layout, &raw mut multiple)) }?;
        Ok(multiple)
    }

    /// Tokens of a rank, the same for all. `offsets` are where each sequence begins in the pack, and last the pack's tokens.
    pub fn tokens(&self, offsets: &[i64]) -> Result<i64> {
        let (layout, mut tokens) = (self.layout(), 0);
        // SAFETY: the list is as long as it says.
        unsafe { call!(partition_tokens(&raw const layout, offsets.as_ptr(), offsets.len() as i64, &raw mut tokens)) }?;
        Ok(tokens)
    }

    /// Where in the pack each of this rank's tokens stands, in the rank's order.
    pub fn indices(&self, offsets: &[i64]) -> Result<Vec<i64>> {
        let mut indices = vec![0; self.tokens(offsets)? as usize];
        let (layout, count) = (self.layout(), indices.len() as i64);
        // SAFETY: the lists are as long as they say.
        unsafe { call!(partition_indices(&raw const layout, offsets.as_ptr(), offsets.len() as i64, indices.as_mut_ptr(), count)) }?;
        Ok(indices)
    }

    /// Copies this rank's part out of a pack of items of `per_token` elements.
    pub fn take<T: Element>(&self, offsets: &[i64], per_token: usize, whole: &[T], part: &mut [T]) -> Result<()> {
        let (layout, bytes) = (self.layout(), item_bytes::<T>(per_token));
        let (whole, part) = (input(whole), output(part));
        // SAFETY: list and arrays are as long as they say; nobody else has what is written.
        unsafe { call!(partition_split(&raw const layout, offsets.as_ptr(), offsets.len() as i64, bytes, whole.0, whole.1, part.0, part.1)) }?;
        Ok(())
    }

    /// Puts the parts of all ranks, one behind the other as all-gathers over context and sequence parallelism give them, together again: the inverse of
    /// [`Partition::take`]. Ranks are not looked at.
    pub fn gather<T: Element>(&self, offsets: &[i64], per_token: usize, parts: &[T], whole: &mut [T]) -> Result<()> {
        let (layout, bytes) = (self.layout(), item_bytes::<T>(per_token));
        let (parts, whole) = (input(parts), output(whole));
        // SAFETY: list and arrays are as long as they say; nobody else has what is written.
        unsafe { call!(partition_gather(&raw const layout, offsets.as_ptr(), offsets.len() as i64, bytes, parts.0, parts.1, whole.0, whole.1)) }?;
        Ok(())
    }
}

/// A pipeline stage. The model's layers are dealt out in `vp_size` rounds; in each, stage after stage takes its share, which is the same for all but a
/// first or last stage whose layers are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Layers of the model, dense ones too.
    pub num_layers: i32,
    /// Pipeline stages.
    pub pp_size: i32,
    /// This one.
    pub pp_rank: i32,
    /// Virtual stages (model chunks) of each stage.
    pub vp_size: i32,
    /// This chunk; `None` is all chunks of the stage.
    pub vp_rank: Option<i32>,
    /// Layers of the first stage over all its chunks; 0 is as many as the others have.
    pub first_layers: i32,
    /// The same for the last stage.
    pub last_layers: i32,
}

impl Stage {
    /// The only stage of a model.
    #[must_use]
    pub fn new(num_layers: i32) -> Self {
        Self { num_layers, pp_size: 1, pp_rank: 0, vp_size: 1, vp_rank: None, first_layers: 0, last_layers: 0 }
    }

    /// Those of the model's MoE layers, ascending, that the stage has, in the order in which it makes their routers (R43).
    pub fn layers(&self, moe_layers: &[i32]) -> Result<Vec<i32>> {
        let mut layers = vec![0; moe_layers.len()];
        let (count, mut needed) = (layers.len() as i64, 0);
        // SAFETY: the lists are as long as they say.
        unsafe {
            call!(stage_layers(
                self.num_layers,
                self.pp_size,
                self.pp_rank,
                self.vp_size,
                self.vp_rank.unwrap_or(-1),
                self.first_layers,
                self.last_layers,
                moe_layers.as_ptr(),
                moe_layers.len() as i64,
                layers.as_mut_ptr(),
                count,
                &raw mut needed
            ))
        }?;
        layers.truncate(needed as usize);
        Ok(layers)
    }
}

/// Columns of an array `[tokens, layers]` of items of `per_item` elements, for [`Columns::split`] and [`Columns::gather`].
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// Model layer number of every column of the array.
    pub layer_ids: &'a [i32],
    /// Layer numbers of the columns wanted, in this order.
    pub selected: &'a [i32],
    /// Rows.
    pub tokens: i64,
    /// Elements of an item: K for ids.
    pub per_item: usize,
    /// Order of the axes of the part.
    pub order: AxisOrder,
}

impl Columns<'_> {
    /// Copies the columns out of the array.
    pub fn split<T: Element>(&self, whole: &[T], part: &mut [T]) -> Result<()> {
        let (whole, part) = (input(whole), output(part));
        // SAFETY: lists and arrays are as long as they say; nobody else has what is written.
        unsafe {
            call!(layers_split(
                self.layer_ids.as_ptr(),
                self.layer_ids.len() as i64,
                self.selected.as_ptr(),
                self.selected.len() as i64,
                self.tokens,
                item_bytes::<T>(self.per_item),
                self.order.raw(),
                whole.0,
                whole.1,
                part.0,
                part.1
            ))
        }?;
        Ok(())
    }

    /// Copies the columns to their places in the array and leaves the others alone: called for every stage, it is the inverse of [`Columns::split`].
    pub fn gather<T: Element>(&self, part: &[T], whole: &mut [T]) -> Result<()> {
        let (part, whole) = (input(part), output(whole));
        // SAFETY: lists and arrays are as long as they say; nobody else has what is written.
        unsafe {
            call!(layers_gather(
                self.layer_ids.as_ptr(),
                self.layer_ids.len() as i64,
                self.selected.as_ptr(),
                self.selected.len() as i64,
                self.tokens,
                item_bytes::<T>(self.per_item),
                self.order.raw(),
                part.0,
                part.1,
                whole.0,
                whole.1
            ))
        }?;
        Ok(())
    }
}
