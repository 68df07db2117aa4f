// SPDX-License-Identifier: Apache-2.0

//! What a forward stages, and what an output accepts later.

use routecap_sys as sys;

use crate::array::{Array, Stream};
use crate::enums::Acceptance;

/// What [`crate::Sealed::end_forward`] stages.
///
/// Commit entry (g, j), g < groups, j < `group_width`: forward row `rows[g * rows_group_stride + j]` goes to slot `slots[g * slots_group_stride + j]`; -1 in
/// either means nothing. Rows count from the forward's first row. What stands between two groups is not read.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Forward<'a> {
    layout: sys::rcap_forward_layout,
    pub(crate) slots: Array<'a>,
    pub(crate) rows: Array<'a>,
    pub(crate) tags: Array<'a>,
    pub(crate) stream: Stream,
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident;)*) => { $(
        $(#[$doc])*
        pub fn $name(mut self, $name: i64) -> Self {
            self.layout.$name = $name;
            self
        }
    )* };
}

impl<'a> Forward<'a> {
    /// This rank's rows; 0 is an idle rank and legal (R16).
    pub fn new(tokens: i64) -> Self {
        let layout = sys::rcap_forward_layout { tokens, ..Default::default() };
        Self { layout, slots: Array::NONE, rows: Array::NONE, tags: Array::NONE, stream: Stream::DEFAULT }
    }

    /// Slot of every entry, `i32` or `i64`. Not needed where the capturer stores nothing, with 0 tokens, or with [`Acceptance::Later`].
    pub fn slots(mut self, slots: impl Into<Array<'a>>) -> Self {
        self.slots = slots.into();
        self
    }

    /// The rows that are committed, `i32` or `i64`: the forward row of every entry ([`Acceptance::Given`]).
    pub fn accepted(mut self, rows: impl Into<Array<'a>>) -> Self {
        self.rows = rows.into();
        self.layout.acceptance = Acceptance::Given.raw();
        self
    }

    /// [`crate::Output::accept`] will say which rows are committed ([`Acceptance::Later`]).
    pub fn accepted_later(mut self) -> Self {
        self.layout.acceptance = Acceptance::Later.raw();
        self
    }

    /// Tag of every row of the forward, `i64`, where tags are kept.
    pub fn tags(mut self, tags: impl Into<Array<'a>>) -> Self {
        self.tags = tags.into();
        self
    }

    numbers! {
        /// Row of the device buffer where this rank's rows begin ([`crate::RankRows`]).
        first_row;
        /// Groups of entries; 0 is one.
        groups;
        /// Entries of a group; 0 with one group is all of them.
        group_width;
        /// Elements between the starts of two groups of slots; 0 is `group_width`.
        slots_group_stride;
        /// The same for rows.
        rows_group_stride;
        /// The engine's step number, a label only (R10).
        step;
        /// Version of the model's weights in this forward, kept with every row.
        weight_version;
    }

    /// Stream that the work is queued on.
    pub fn stream(mut self, stream: Stream) -> Self {
        self.stream = stream;
        self
    }

    pub(crate) fn layout(&self) -> sys::rcap_forward_layout {
        sys::rcap_forward_layout {
            slots_dtype: self.slots.dtype_or_int64(),
            rows_dtype: self.rows.dtype_or_int64(),
            slots_memory: self.slots.memory().raw(),
            rows_memory: self.rows.memory().raw(),
            tags_memory: self.tags.memory().raw(),
            ..self.layout
        }
    }
}

/// What [`crate::Output::accept`] commits; entries are as in [`Forward`].
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Accept<'a> {
    layout: sys::rcap_accept_layout,
    pub(crate) rows: Array<'a>,
    pub(crate) slots: Array<'a>,
    pub(crate) stream: Stream,
}

impl<'a> Accept<'a> {
    /// Forward row of every entry, `i32` or `i64`. None commit nothing.
    pub fn new(rows: impl Into<Array<'a>>) -> Self {
        Self { layout: sys::rcap_accept_layout::DEFAULT, rows: rows.into(), slots: Array::NONE, stream: Stream::DEFAULT }
    }

    /// Slot of every entry; where it is not given, each row's slot as it came with the forward.
    pub fn slots(mut self, slots: impl Into<Array<'a>>) -> Self {
        self.slots = slots.into();
        self
    }

    numbers! {
        /// Groups of entries; 0 is one.
        groups;
        /// Entries of a group; 0 with one group is all of them.
        group_width;
        /// Elements between the starts of two groups of slots; 0 is `group_width`.
        slots_group_stride;
        /// The same for rows.
        rows_group_stride;
    }

    /// Stream that the work is queued on.
    pub fn stream(mut self, stream: Stream) -> Self {
        self.stream = stream;
        self
    }

    pub(crate) fn layout(&self) -> sys::rcap_accept_layout {
        sys::rcap_accept_layout {
            slots_dtype: self.slots.dtype_or_int64(),
            rows_dtype: self.rows.dtype_or_int64(),
            slots_memory: self.slots.memory().raw(),
            rows_memory: self.rows.memory().raw(),
            ..self.layout
        }
    }
}
