// SPDX-License-Identifier: Apache-2.0

//! The geometry of a capturer.

use std::time::Duration;

use routecap_sys as sys;

use crate::capturer::Capturer;
use crate::enums::{BusyPolicy, CheckLevel, DType, FinalizeMode, WeightsKind};
use crate::error::{call, filled};
use crate::library::Backend;
use crate::structs::Plan;
use crate::{Error, Result};

/// Geometry of a capturer in the engine's own numbers; made by [`Capturer::builder`]. What is not set has the library's default.
#[derive(Clone, Debug)]
#[must_use = "create() makes the capturer"]
pub struct Builder<'a> {
    config: sys::rcap_capturer_config,
    layer_ids: Vec<i32>,
    backend: Option<&'a Backend>,
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => { $(
        $(#[$doc])*
        pub fn $name(mut self, $name: $type) -> Self {
            self.config.$name = $name;
            self
        }
    )* };
}

macro_rules! enums {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => { $(
        $(#[$doc])*
        pub fn $name(mut self, $name: $type) -> Self {
            self.config.$name = $name.raw();
            self
        }
    )* };
}

pub(crate) fn nanoseconds(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

impl<'a> Builder<'a> {
    pub(crate) fn new(num_experts: i32, top_k: i32, layer_ids: &[i32]) -> Self {
        let config = sys::rcap_capturer_config { num_experts, top_k, ..Default::default() };
        Self { config, layer_ids: layer_ids.to_vec(), backend: None }
    }

    numbers! {
        /// Columns behind the first K that a kernel with fused shared experts adds; they are dropped (R23).
        num_fused_shared_experts: i32;
        /// Staging blocks: forwards that may be unsettled at once, 1 .. 4096; 2 by default.
        pipeline_depth: i32;
        /// Tokens of the largest prefill chunk of one rank; exactly one of this and `max_forward_tokens` is given.
        chunked_prefill_size: i64;
        /// Tokens of the largest forward of one rank where prefill is not chunked.
        max_forward_tokens: i64;
        /// Requests of one rank that may decode at once; 1 by default.
        max_running_requests: i64;
        /// Tokens that a verify forward has per request (drafts + 1); 0 without speculative decoding.
        num_verify_tokens: i64;
        /// Rows of the largest graph batch of one rank, padding included; 0 without graphs.
        max_graph_tokens: i64;
        /// Data-parallel ranks that write into one device buffer; 1 by default.
        dp_size: i64;
        /// Attention tensor parallel size: rows are rounded up to a multiple of it; 1 by default.
        attn_tp_size: i64;
        /// KV slots of this rank; 0 captures and stages and does not store.
        num_slots: i64;
        /// Slots of one KV page; 1 by default.
        page_size: i64;
        /// The first slots, the engine's padding or null block: rows for them are discarded by contract (R15).
        reserved_slots: i64;
    }

    enums! {
        /// Keeps routing weights beside the ids: `Float16`, `BFloat16` or `Float32`; `None` keeps none.
        weights_dtype: DType;
        /// What the weights mean, a label that travels with the records (R29).
        weights_kind: WeightsKind;
        /// How closely rows are checked before they are stored.
        check_level: CheckLevel;
        /// Who finalizes outputs: the caller, or a thread of the capturer's own.
        finalize_mode: FinalizeMode;
        /// What `end_forward` does when every staging block is in flight (R32).
        busy_policy: BusyPolicy;
    }

    /// Longest wait of [`BusyPolicy::Wait`].
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.config.busy_timeout_ns = nanoseconds(timeout);
        self
    }

    /// Keeps a caller's 64-bit tag with every row and compares it at the read.
    pub fn tags(mut self, keep: bool) -> Self {
        self.config.tags = i32::from(keep);
        self
    }

    /// Where rows are captured; the host where it is not set.
    pub fn backend(mut self, backend: &'a Backend) -> Self {
        self.backend = Some(backend);
        self
    }

    /// What the capturer would need, without allocating anything.
    pub fn plan(&self) -> Result<Plan> {
        let mut plan = sys::rcap_capturer_plan::DEFAULT;
        let (layers, count) = (self.layer_ids.as_ptr(), self.layer_ids.len() as i64);
        // SAFETY: the list is as long as it says, the structs have their sizes set.
        unsafe { call!(capturer_plan_get(&raw const self.config, layers, count, &raw mut plan)) }?;
        Ok((&plan).into())
    }

    /// Makes the capturer. Next: add the models and their taps, then seal.
    pub fn create(&self) -> Result<Capturer> {
        let plan = self.plan()?;
        let mut handle = std::ptr::null_mut();
        let backend = self.backend.map_or(std::ptr::null_mut(), Backend::raw);
        let (layers, count) = (self.layer_ids.as_ptr(), self.layer_ids.len() as i64);
        // SAFETY: as in `plan`; the backend is open and the capturer counts itself among its users.
        unsafe { call!(capturer_create(&raw const self.config, layers, count, backend, &raw mut handle)) }?;
        Ok::<_, Error>(Capturer::new(filled(handle)?, plan.ids_dtype, DType::from_raw(self.config.weights_dtype)))
    }
}
