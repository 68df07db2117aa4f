// SPDX-License-Identifier: Apache-2.0

//! A sealed capturer: the engine's side of it, and the side that everybody may use.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, Instant};

use routecap_sys as sys;

use crate::array::{Array, Stream};
use crate::capturer::{Inner, TapId};
use crate::config::nanoseconds;
use crate::enums::{Code, SlotUnit};
use crate::error::{call, filled};
use crate::forward::Forward;
use crate::output::Output;
use crate::structs::{SlotInfo, Stats};
use crate::tap::Tap;
use crate::{Error, Result};

/// A sealed capturer, as the engine has it: it ends forwards and says what becomes of slots.
///
/// It may move to another thread and is not shared between threads (`Send`, not `Sync`), because the calls of the engine's side have one caller at a
/// time. What any thread may do at any time is on [`Reader`], which it derefs to and of which [`Sealed::reader`] gives more.
///
/// The capturer itself ends with the last of its `Sealed`, [`Reader`]s, [`Output`]s and owned [`Tap`]s: none of them is ever left without it.
pub struct Sealed {
    reader: Reader,
    one_thread: PhantomData<Cell<()>>,
}

/// What any thread may do with a sealed capturer, at any time: read rows, look at slots and counters. `Clone`, `Send` and `Sync`.
#[derive(Clone)]
pub struct Reader {
    pub(crate) inner: Arc<Inner>,
}

impl Deref for Sealed {
    type Target = Reader;

    fn deref(&self) -> &Reader {
        &self.reader
    }
}

impl fmt::Debug for Sealed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Sealed").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Reader").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

impl Sealed {
    pub(crate) fn new(inner: Arc<Inner>) -> Self {
        Self { reader: Reader { inner }, one_thread: PhantomData }
    }

    /// Another handle for whoever reads.
    #[must_use]
    pub fn reader(&self) -> Reader {
        self.reader.clone()
    }

    /// The tap of a number, for as long as the result lives: a tap has one caller, and one that is in use already is `INVALID_STATE`. It may go to
    /// another thread, a scoped one for example.
    pub fn tap(&self, id: TapId) -> Result<Tap<'_>> {
        Tap::take(&self.inner, id)
    }

    /// The same for a thread or a struct that outlives the borrow: the tap keeps the capturer.
    pub fn owned_tap(&self, id: TapId) -> Result<Tap<'static>> {
        Tap::take(&self.inner, id)
    }

    /// Stages this rank's rows, gives the forward its number, and the device cache back to the next forward (R30). A refused call, [`Error::Busy`]
    /// included, changes nothing and may be repeated.
    pub fn end_forward(&self, forward: &Forward<'_>) -> Result<Output> {
        let layout = forward.layout();
        let (tags, tags_count) = forward.tags.elements::<i64>("tags")?;
        let (slots, rows) = (&forward.slots, &forward.rows);
        let stream = forward.stream.raw();
        let mut handle = std::ptr::null_mut();
        // SAFETY: the handle is open; the arrays are as long as they say and outlive the call, or their maker promised what device memory must.
        unsafe {
            call!(capturer_end_forward(
                self.inner.raw(),
                &raw const layout,
                slots.as_ptr(),
                slots.bytes(),
                rows.as_ptr(),
                rows.bytes(),
                tags,
                tags_count,
                stream,
                &raw mut handle
            ))
        }?;
        Output::new(filled(handle)?, Arc::clone(&self.inner))
    }

    /// [`Sealed::end_forward`], repeated while every staging block is in flight and until the time has passed: for an engine whose outputs are finalized
    /// by other threads.
    pub fn end_forward_within(&self, forward: &Forward<'_>, timeout: Duration) -> Result<Output> {
        let began = Instant::now();
        let mut pause = Duration::from_micros(20);
        loop {
            match self.end_forward(forward) {
                Err(Error::Busy) if began.elapsed() < timeout => std::thread::sleep(pause),
                answer => return answer,
            }
            pause = (2 * pause).min(Duration::from_millis(1));
        }
    }

    /// Forgets what was captured since the last `end_forward`: a warm-up, dummy or aborted forward (R27). It takes no number.
    pub fn discard_forward(&self, stream: Stream) -> Result<()> {
        // SAFETY: the handle is open.
        unsafe { call!(capturer_discard_forward(self.inner.raw(), stream.raw())) }?;
        Ok(())
    }

    /// Makes slots (`i32` or `i64`, or pages) read as missing until they are written again (R8). Applied at the call; forwards numbered before it never
    /// leave a row there (R9). Releasing twice, or a reserved slot, is harmless.
    pub fn release_slots<'a>(&self, unit: SlotUnit, slots: impl Into<Array<'a>>, stream: Stream) -> Result<()> {
        let slots = slots.into();
        let layout = slots_layout(unit, &slots);
        // SAFETY: the handle is open, the array as long as it says.
        unsafe { call!(capturer_release_slots(self.inner.raw(), &raw const layout, slots.as_ptr(), slots.bytes(), stream.raw())) }?;
        Ok(())
    }

    /// Releases every slot, in constant time.
    pub fn release_all(&self, stream: Stream) -> Result<()> {
        // SAFETY: the handle is open.
        unsafe { call!(capturer_release_all(self.inner.raw(), stream.raw())) }?;
        Ok(())
    }

    /// Copies rows from slots to other slots, as if all at once; sources stay (R12). Both arrays have one dtype and as many elements. Rows of forwards
    /// numbered before the copy and finalized after it go along: until those are done the target is [`Error::NotReady`].
    pub fn copy_slots<'a, 'b>(&self, unit: SlotUnit, from: impl Into<Array<'a>>, to: impl Into<Array<'b>>, stream: Stream) -> Result<()> {
        let (from, to) = (from.into(), to.into());
        if from.dtype() != to.dtype() || from.memory() != to.memory() {
            let text = format!(
                "the slots to copy from are {:?} in {:?} memory, those to copy to {:?} in {:?} memory",
                from.dtype(),
                from.memory(),
                to.dtype(),
                to.memory()
            );
            return Err(Error::refused(Code::InvalidArgument, text));
        }
        let layout = slots_layout(unit, &from);
        let (source, source_bytes, target, target_bytes) = (from.as_ptr(), from.bytes(), to.as_ptr(), to.bytes());
        // SAFETY: as for release_slots.
        unsafe { call!(capturer_copy_slots(self.inner.raw(), &raw const layout, source, source_bytes, target, target_bytes, stream.raw())) }?;
        Ok(())
    }
}

fn slots_layout(unit: SlotUnit, slots: &Array<'_>) -> sys::rcap_slots_layout {
    sys::rcap_slots_layout { slots_dtype: slots.dtype_or_int64(), memory: slots.memory().raw(), unit: unit.raw(), ..Default::default() }
}

/// An output that settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// The forward's number.
    pub sequence: i64,
    /// What its finalize says: `Ok` or `Device`.
    pub code: Code,
}

impl Reader {
    /// The capturer's counters.
    pub fn stats(&self) -> Result<Stats> {
        let mut stats = sys::rcap_capturer_stats::DEFAULT;
        // SAFETY: the handle is open, the struct has its size set.
        unsafe { call!(capturer_stats_get(self.inner.raw(), &raw mut stats)) }?;
        Ok((&stats).into())
    }

    /// State of one slot. For the target of a copy that waits for a forward it is [`Error::NotReady`].
    pub fn slot_info(&self, slot: i64) -> Result<SlotInfo> {
        let mut info = sys::rcap_slot_info::DEFAULT;
        // SAFETY: the handle is open, the struct has its size set.
        unsafe { call!(capturer_slot_info_get(self.inner.raw(), slot, &raw mut info)) }?;
        Ok((&info).into())
    }

    /// Takes the next settled output, in the order in which they settled, or waits for one; only with [`crate::FinalizeMode::OwnThread`]. Completions are
    /// kept from the first call on, so make one, with no time to wait, before the forwards that matter. Where outputs are awaited (feature `async`), those
    /// futures take the completions.
    pub fn next_completed(&self, timeout: Duration) -> Result<Completion> {
        let (mut sequence, mut code) = (0, 0);
        // SAFETY: the handle is open, both numbers are written where they stand.
        unsafe { call!(capturer_next_completed(self.inner.raw(), nanoseconds(timeout), &raw mut sequence, &raw mut code)) }?;
        Ok(Completion { sequence, code: Code::from_raw(code) })
    }

    /// An eventfd that counts settled outputs, for poll and epoll; only with [`crate::FinalizeMode::OwnThread`]. Reading 8 bytes resets it. The caller gets
    /// a duplicate of its own. Keeps completions as [`Reader::next_completed`] does.
    pub fn completion_fd(&self) -> Result<std::os::fd::OwnedFd> {
        let mut descriptor = -1;
        // SAFETY: the handle is open.
        unsafe { call!(capturer_completion_fd(self.inner.raw(), &raw mut descriptor)) }?;
        // SAFETY: the capturer keeps the descriptor open, and it is alive here.
        let borrowed = unsafe { std::os::fd::BorrowedFd::borrow_raw(descriptor) };
        borrowed.try_clone_to_owned().map_err(|error| Error::refused(Code::OutOfMemory, format!("completion_fd: {error}")))
    }
}
