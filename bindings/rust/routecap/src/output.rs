// SPDX-License-Identifier: Apache-2.0

//! One ended forward on its way to the store.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use routecap_sys as sys;

use crate::Result;
use crate::array::Stream;
use crate::capturer::Inner;
use crate::config::nanoseconds;
use crate::error::{call, destroy};
use crate::forward::Accept;
use crate::structs::Summary;

/// One ended forward on its way to the store. Dropped unsettled, its slots settle as missing (R33); with [`crate::FinalizeMode::OwnThread`] an accepted one
/// is only detached and still stored.
///
/// It may go to another thread (`Send`): that is how outputs are finalized away from the engine's. Calls that have one caller at a time take `&mut self`.
/// With the feature `async`, and a capturer that finalizes by itself, it is a future of its [`Summary`].
pub struct Output {
    handle: NonNull<sys::rcap_output>,
    sequence: i64,
    /// What it keeps alive.
    #[cfg_attr(not(feature = "async"), allow(dead_code))]
    pub(crate) inner: Arc<Inner>,
}

// SAFETY: handles may move between threads.
unsafe impl Send for Output {}
// SAFETY: no function of the library is called through `&self`.
unsafe impl Sync for Output {}

impl Output {
    pub(crate) fn new(handle: NonNull<sys::rcap_output>, inner: Arc<Inner>) -> Result<Self> {
        let mut output = Self { handle, sequence: 0, inner };
        let table = sys::api()?;
        let mut failed = crate::error::Failed::new();
        // SAFETY: the output is open.
        let answer = unsafe { (table.output_sequence)(handle.as_ptr(), failed.as_mut_ptr()) };
        failed.check(answer.min(0) as i32)?;
        output.sequence = answer;
        Ok(output)
    }

    /// The number of the forward, > 0. Forwards, releases and copies of a capturer count together (R9).
    #[must_use]
    pub fn sequence(&self) -> i64 {
        self.sequence
    }

    /// Tells which rows of a forward that was `accepted_later` are committed; once, before finalize. A refused call may be repeated (R21).
    pub fn accept(&mut self, accept: &Accept<'_>) -> Result<()> {
        let layout = accept.layout();
        let (rows, slots, stream) = (&accept.rows, &accept.slots, accept.stream.raw());
        // SAFETY: the output is open and `&mut self` its one caller; the arrays are as long as they say, or their maker promised what device memory must.
        unsafe { call!(output_accept(self.handle.as_ptr(), &raw const layout, rows.as_ptr(), rows.bytes(), slots.as_ptr(), slots.bytes(), stream)) }?;
        Ok(())
    }

    /// The staged rows on the device, for a collective where ranks hold parts: an address of the device and its bytes, [`crate::Plan`]'s
    /// `slot_payload_bytes` a row. Valid until the output settles.
    pub fn device_rows(&mut self) -> Result<(u64, i64)> {
        let (mut data, mut bytes) = (std::ptr::null_mut(), 0);
        // SAFETY: the output is open, `&mut self` its one caller.
        unsafe { call!(output_device_rows(self.handle.as_ptr(), &raw mut data, &raw mut bytes)) }?;
        Ok((data.expose_provenance() as u64, bytes))
    }

    /// Starts the one copy of the staged block to the host, ordered behind the staging whatever the stream. A second call does nothing.
    pub fn copy_to_host(&mut self, stream: Stream) -> Result<()> {
        // SAFETY: the output is open, `&mut self` its one caller.
        unsafe { call!(output_copy_to_host(self.handle.as_ptr(), stream.raw())) }?;
        Ok(())
    }

    /// Whether the copy is complete; with [`crate::FinalizeMode::OwnThread`], whether the output has settled. Never waits.
    pub fn ready(&mut self) -> Result<bool> {
        // SAFETY: the output is open, `&mut self` its one caller.
        Ok(unsafe { call!(output_ready(self.handle.as_ptr())) }? != 0)
    }

    /// Waits until [`Output::ready`] would say true; [`crate::Error::Timeout`] when the time has passed.
    pub fn wait(&mut self, timeout: Duration) -> Result<()> {
        // SAFETY: the output is open, `&mut self` its one caller.
        unsafe { call!(output_wait(self.handle.as_ptr(), nanoseconds(timeout))) }?;
        Ok(())
    }

    /// Stores the committed rows and frees the block. Bad rows do not fail the call: they are missing and the summary names the first (R14). On a settled
    /// output it gives the same answer again. With [`crate::FinalizeMode::OwnThread`] it only reads the summary.
    pub fn finalize(&mut self) -> Result<Summary> {
        let mut summary = sys::rcap_summary::DEFAULT;
        // SAFETY: the output is open, `&mut self` its one caller; the struct has its size set.
        unsafe { call!(output_finalize(self.handle.as_ptr(), &raw mut summary)) }?;
        Ok((&summary).into())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // SAFETY: nobody else has it any more, and its capturer is still there.
        unsafe { destroy!(output_destroy(self.handle.as_ptr())) };
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Output").field("sequence", &self.sequence).finish_non_exhaustive()
    }
}
