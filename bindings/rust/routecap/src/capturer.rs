// SPDX-License-Identifier: Apache-2.0

//! A capturer before its seal: models and taps are added. After it: [`Sealed`].

use std::cell::Cell;
use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use routecap_sys as sys;

use crate::array::Array;
use crate::config::Builder;
use crate::enums::{Code, DType, Gate, Memory, Role, TapFlags};
use crate::error::{call, destroy, filled};
use crate::library::c_string;
use crate::sealed::Sealed;
use crate::{Error, Result};

/// What is shared by everything that works on one capturer; the last of them ends it.
pub(crate) struct Inner {
    handle: NonNull<sys::rcap_capturer>,
    pub(crate) ids_dtype: DType,
    pub(crate) weights_dtype: DType,
    /// By number.
    taps: Mutex<Vec<TapPlace>>,
    #[cfg(feature = "async")]
    pub(crate) completions: crate::completion::Completions,
}

pub(crate) struct TapPlace {
    /// A [`crate::Tap`] of this number is in use: there is one caller per tap.
    pub(crate) taken: bool,
    /// The map that the library keeps the address of.
    pub(crate) map: Option<IdMap>,
}

/// A physical-to-logical map, kept by address: never moved and freed behind its capturer.
pub(crate) enum IdMap {
    Int32(*mut [i32]),
    Int64(*mut [i64]),
}

/// Dropped when the library's copy of the address is gone: behind the capturer, or when the tap was refused.
impl Drop for IdMap {
    fn drop(&mut self) {
        match self {
            // SAFETY: it came from a box.
            IdMap::Int32(map) => drop(unsafe { Box::from_raw(*map) }),
            // SAFETY: it came from a box.
            IdMap::Int64(map) => drop(unsafe { Box::from_raw(*map) }),
        }
    }
}

// SAFETY: calls tagged `any` may run at once, and those tagged `capturer` are made by `Capturer` and `Sealed` alone, which are not `Sync`.
unsafe impl Send for Inner {}
// SAFETY: the same.
unsafe impl Sync for Inner {}

impl Inner {
    pub(crate) fn raw(&self) -> *mut sys::rcap_capturer {
        self.handle.as_ptr()
    }

    /// A panic cannot leave the list half changed.
    pub(crate) fn taps(&self) -> MutexGuard<'_, Vec<TapPlace>> {
        self.taps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: nobody else has the handle any more, so that no call on it is in progress. The taps' maps are dropped behind it.
        unsafe { destroy!(capturer_destroy(self.handle.as_ptr())) };
    }
}

/// Records the routing of one engine rank, before its seal. Any number live in one process, fully independent (R35).
///
/// What may only happen before the seal is here, what may only happen after it is on [`Sealed`]: the other does not compile. It may move to another
/// thread and is not shared between threads (`Send`, not `Sync`): one caller at a time sets a capturer up.
///
/// ```
/// # fn main() -> routecap::Result<()> {
/// let capturer = routecap::Capturer::builder(256, 8, &[3, 4]).chunked_prefill_size(128).num_slots(1024).create()?;
/// let target = capturer.add_model(routecap::Role::Target, "target")?;
/// let taps = [target.add_tap(3)?, target.add_tap(4)?];
/// let sealed = capturer.seal()?;
/// assert!(sealed.tap(taps[0])?.is_enabled()?);
/// # Ok(())
/// # }
/// ```
pub struct Capturer {
    inner: Arc<Inner>,
    /// `capturer` functions have one caller at a time.
    one_thread: PhantomData<Cell<()>>,
}

impl Capturer {
    /// Geometry of a capturer: E logical routed experts of a layer, K chosen per token, the captured layers' numbers in the model, ascending.
    pub fn builder<'a>(num_experts: i32, top_k: i32, layer_ids: &[i32]) -> Builder<'a> {
        Builder::new(num_experts, top_k, layer_ids)
    }

    pub(crate) fn new(handle: NonNull<sys::rcap_capturer>, ids_dtype: DType, weights_dtype: DType) -> Self {
        let inner = Inner {
            handle,
            ids_dtype,
            weights_dtype,
            taps: Mutex::new(Vec::new()),
            #[cfg(feature = "async")]
            completions: crate::completion::Completions::default(),
        };
        Self { inner: Arc::new(inner), one_thread: PhantomData }
    }

    /// Adds a model: one target, any number of drafts. Drafts start denied and stay so (R20). The name is used in error texts.
    pub fn add_model(&self, role: Role, name: &str) -> Result<Model<'_>> {
        let name = c_string("the model's name", name)?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the handle is open, the name lives during the call.
        unsafe { call!(capturer_add_model(self.inner.raw(), role.raw(), name.as_ptr(), &raw mut handle)) }?;
        Ok(Model { capturer: self, handle: filled(handle)? })
    }

    /// Ends the set-up. It fails closed (R20): no target, a denied target, a captured layer without a tap. Memory is allocated here, and a seal that had too
    /// little may be tried again with the capturer that the error gives back.
    pub fn seal(self) -> std::result::Result<Sealed, SealError> {
        // SAFETY: the handle is open.
        let sealed = (|| unsafe { call!(capturer_seal(self.inner.raw())) })();
        match sealed {
            Ok(_) => Ok(Sealed::new(self.inner)),
            Err(error) => Err(SealError { capturer: Box::new(Mutex::new(self)), error }),
        }
    }
}

impl fmt::Debug for Capturer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Capturer").field("taps", &self.inner.taps().len()).finish_non_exhaustive()
    }
}

/// A seal that was refused, and the capturer as it was.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct SealError {
    /// An error goes anywhere, and is looked at from anywhere; the capturer comes out by value alone.
    capturer: Box<Mutex<Capturer>>,
    #[source]
    error: Error,
}

impl SealError {
    /// What was lacking.
    #[must_use]
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// The capturer, to mend what was lacking and seal it again.
    #[must_use]
    pub fn into_capturer(self) -> Capturer {
        self.capturer.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<SealError> for Error {
    fn from(failed: SealError) -> Self {
        failed.error
    }
}

/// Number of a tap: taps of a capturer count from 0 in the order they were added. [`Sealed::tap`] gives the tap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TapId(pub i32);

/// The target model of a capturer, or one of its drafts, before the seal.
#[derive(Debug)]
pub struct Model<'a> {
    capturer: &'a Capturer,
    handle: NonNull<sys::rcap_model>,
}

impl Model<'_> {
    /// Sets the gate of the model's taps. Allowing a draft is refused; denying the target makes the seal fail (R20).
    pub fn set_capture(&self, gate: Gate) -> Result<()> {
        // SAFETY: the model lives as long as its capturer, which is borrowed.
        unsafe { call!(model_set_capture(self.handle.as_ptr(), gate.raw())) }?;
        Ok(())
    }

    /// Adds the tap of one MoE layer, whose ids are logical. A draft's layer number may equal a target's: the tap decides, not the number (R18).
    pub fn add_tap(&self, layer: i32) -> Result<TapId> {
        self.add_tap_with(layer, TapOptions::default())
    }

    /// Adds the tap of one MoE layer.
    pub fn add_tap_with(&self, layer: i32, options: TapOptions) -> Result<TapId> {
        let (map, place) = options.map.into_parts();
        let given = sys::rcap_tap_options {
            flags: options.flags.bits(),
            id_map_dtype: map.dtype().raw(),
            id_map_memory: map.memory().raw(),
            ..Default::default()
        };
        let mut handle = std::ptr::null_mut();
        // From here on the map is the capturer's, whatever the library says: it may have kept the address.
        let mut taps = self.capturer.inner.taps();
        taps.push(TapPlace { taken: false, map: place });
        // SAFETY: the model lives, and the map as long as the capturer.
        let added = (|| unsafe { call!(model_add_tap(self.handle.as_ptr(), layer, &raw const given, map.as_ptr(), map.bytes(), &raw mut handle)) })();
        if let Err(error) = added {
            // A refused call keeps nothing.
            taps.pop();
            return Err(error);
        }
        // SAFETY: the tap lives as long as its capturer.
        let id = unsafe { call!(tap_id(filled(handle)?.as_ptr())) }?;
        if id as usize + 1 == taps.len() {
            Ok(TapId(id))
        } else {
            Err(Error::refused(Code::Internal, format!("tap {} has the number {id}", taps.len() - 1)))
        }
    }
}

/// How a tap's ids are to be read.
#[derive(Debug, Default)]
#[must_use]
pub struct TapOptions {
    flags: TapFlags,
    map: GivenMap,
}

#[derive(Debug, Default)]
enum GivenMap {
    #[default]
    None,
    Int32(Box<[i32]>),
    Int64(Box<[i64]>),
    Device(Array<'static>),
}

impl GivenMap {
    /// What the library is told, and what is kept. The address stays when the box becomes a pointer.
    fn into_parts(self) -> (Array<'static>, Option<IdMap>) {
        match self {
            GivenMap::None => (Array::NONE, None),
            GivenMap::Device(map) => (map, None),
            GivenMap::Int32(map) => {
                let map = Box::into_raw(map);
                // SAFETY: it came from a box that is not freed before its capturer ends.
                (unsafe { kept(map, size_of_val(&*map), DType::Int32) }, Some(IdMap::Int32(map)))
            }
            GivenMap::Int64(map) => {
                let map = Box::into_raw(map);
                // SAFETY: the same.
                (unsafe { kept(map, size_of_val(&*map), DType::Int64) }, Some(IdMap::Int64(map)))
            }
        }
    }
}

/// # Safety
///
/// The memory stays as long as the array is used.
unsafe fn kept<T>(map: *mut [T], bytes: usize, dtype: DType) -> Array<'static> {
    Array::from_raw(map.cast::<c_void>(), bytes as i64, dtype, Memory::Host)
}

impl TapOptions {
    /// Properties of the layer; they travel with the records.
    pub fn flags(mut self, flags: TapFlags) -> Self {
        self.flags = flags;
        self
    }

    /// Physical-to-logical map (R22): entry p is the logical id of physical expert p. [`crate::Tap::set_id_map`] changes it between forwards.
    pub fn id_map(mut self, map: &[i32]) -> Self {
        self.map = GivenMap::Int32(map.into());
        self
    }

    /// The same with 64-bit entries.
    pub fn id_map_int64(mut self, map: &[i64]) -> Self {
        self.map = GivenMap::Int64(map.into());
        self
    }

    /// A map in the memory of the backend's device, or one that the engine rewrites where it lies.
    ///
    /// # Safety
    ///
    /// The library keeps the address: it stays readable as long as the capturer lives, and is not rewritten while a capture on the tap runs.
    pub unsafe fn id_map_at(mut self, map: Array<'static>) -> Self {
        self.map = GivenMap::Device(map);
        self
    }
}
