// SPDX-License-Identifier: Apache-2.0

//! Arrays as the library takes them: elements of one dtype, in a slice or at an address of a backend's device.

use std::ffi::c_void;
use std::marker::PhantomData;

use crate::Error;
use crate::enums::{Code, DType, Memory};

/// The bits of an IEEE 754 binary16 number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct F16(pub u16);

/// The bits of a bfloat16 number, the upper half of an `f32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct BF16(pub u16);

impl F16 {
    /// The number, exactly.
    #[must_use]
    pub fn to_f32(self) -> f32 {
        let (sign, exponent, fraction) = (u32::from(self.0 >> 15) << 31, u32::from(self.0 >> 10 & 0x1f), u32::from(self.0 & 0x3ff));
        match exponent {
            // Zero, or a multiple of 2^-24.
            0 => f32::from_bits(sign | (f32::from(self.0 & 0x3ff) * 2f32.powi(-24)).to_bits()),
            0x1f => f32::from_bits(sign | 0xff << 23 | fraction << 13),
            _ => f32::from_bits(sign | (exponent + 127 - 15) << 23 | fraction << 13),
        }
    }
}

impl BF16 {
    /// The number, exactly.
    #[must_use]
    pub fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}

mod sealed {
    pub trait Sealed {}
}

/// What arrays consist of. Every bit pattern of such a type is a value of it.
pub trait Element: sealed::Sealed + Copy + 'static {
    /// Its dtype.
    const DTYPE: DType;
}

/// What stored ids consist of; the number of experts decides which (R28).
pub trait Id: Element + Into<i64> {}

/// What stored weights consist of.
pub trait Weight: Element {
    /// The number, exactly.
    fn to_f32(self) -> f32;
}

macro_rules! elements {
    ($($element:ty => $dtype:ident),* $(,)?) => { $(
        impl sealed::Sealed for $element {}
        impl Element for $element {
            const DTYPE: DType = DType::$dtype;
        }
    )* };
}
elements!(u8 => UInt8, u16 => UInt16, i16 => Int16, i32 => Int32, i64 => Int64, F16 => Float16, BF16 => BFloat16, f32 => Float32);

impl Id for u8 {}
impl Id for u16 {}
impl Id for i32 {}

impl Weight for F16 {
    fn to_f32(self) -> f32 {
        F16::to_f32(self)
    }
}

impl Weight for BF16 {
    fn to_f32(self) -> f32 {
        BF16::to_f32(self)
    }
}

impl Weight for f32 {
    fn to_f32(self) -> f32 {
        self
    }
}

#[cfg(feature = "half")]
mod with_half {
    use super::{BF16, DType, Element, F16, Weight, sealed};

    macro_rules! half_elements {
        ($($theirs:ty, $ours:ident => $dtype:ident),*) => { $(
            impl sealed::Sealed for $theirs {}
            impl Element for $theirs {
                const DTYPE: DType = DType::$dtype;
            }
            impl Weight for $theirs {
                fn to_f32(self) -> f32 {
                    <$theirs>::to_f32(self)
                }
            }
            impl From<$theirs> for $ours {
                fn from(number: $theirs) -> Self {
                    Self(number.to_bits())
                }
            }
            impl From<$ours> for $theirs {
                fn from(number: $ours) -> Self {
                    Self::from_bits(number.0)
                }
            }
        )* };
    }
    half_elements!(half::f16, F16 => Float16, half::bf16, BF16 => BFloat16);
}

/// Elements that a call reads. A slice, array or vector of any [`Element`] turns into one by `into()`: nothing is copied.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a> {
    data: *const c_void,
    bytes: i64,
    dtype: DType,
    memory: Memory,
    borrow: PhantomData<&'a [u8]>,
}

impl<'a> Array<'a> {
    /// The memory of a slice.
    #[must_use]
    pub fn new<T: Element>(elements: &'a [T]) -> Self {
        // Not null where it is empty: the library tells by the pointer what is not given, and refuses what is given with a wrong size.
        let data = elements.as_ptr().cast();
        Self { data, bytes: size_of_val(elements) as i64, dtype: T::DTYPE, memory: Memory::Host, borrow: PhantomData }
    }

    /// Memory of the backend's device at an address.
    ///
    /// # Safety
    ///
    /// `bytes` bytes are readable there by the device, as long as the work runs that the call queues, and as long as a graph that recorded it may be
    /// replayed. With the host backend the address is one of this process.
    #[must_use]
    pub unsafe fn device(dtype: DType, address: u64, bytes: i64) -> Array<'static> {
        Array { data: std::ptr::with_exposed_provenance(address as usize), bytes, dtype, memory: Memory::Device, borrow: PhantomData }
    }

    /// The same memory, to be treated as a device's: bad entries are then found row by row when the forward is finalized.
    ///
    /// # Safety
    ///
    /// The backend's device can read it, as for [`Array::device`]. The host backend can.
    #[must_use]
    pub unsafe fn on_device(mut self) -> Self {
        self.memory = Memory::Device;
        self
    }

    /// Type of its elements; `DType::None` where nothing is given.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Where it lies.
    #[must_use]
    pub fn memory(&self) -> Memory {
        self.memory
    }

    /// Its size.
    #[must_use]
    pub fn bytes(&self) -> i64 {
        self.bytes
    }

    pub(crate) fn from_raw(data: *const c_void, bytes: i64, dtype: DType, memory: Memory) -> Self {
        Self { data, bytes, dtype, memory, borrow: PhantomData }
    }

    pub(crate) const NONE: Array<'static> = Array { data: std::ptr::null(), bytes: 0, dtype: DType::None, memory: Memory::Host, borrow: PhantomData };

    pub(crate) fn is_given(&self) -> bool {
        self.dtype != DType::None
    }

    pub(crate) fn as_ptr(&self) -> *const c_void {
        self.data
    }

    /// The library wants a dtype also where no array is given.
    pub(crate) fn dtype_or_int64(&self) -> i32 {
        if self.is_given() { self.dtype.raw() } else { DType::Int64.raw() }
    }

    /// Elements of the type that the library takes alone.
    pub(crate) fn elements<T: Element>(&self, what: &str) -> Result<(*const T, i64), Error> {
        if self.is_given() && self.dtype != T::DTYPE {
            return Err(Error::refused(Code::InvalidArgument, format!("{what} are {:?}, not {:?}", self.dtype, T::DTYPE)));
        }
        Ok((self.data.cast(), self.bytes / size_of::<T>() as i64))
    }

    pub(crate) fn on_host(&self, what: &str) -> Result<(), Error> {
        if self.memory == Memory::Host { Ok(()) } else { Err(Error::refused(Code::InvalidArgument, format!("{what} lie in host memory"))) }
    }
}

impl<'a, T: Element> From<&'a [T]> for Array<'a> {
    fn from(elements: &'a [T]) -> Self {
        Array::new(elements)
    }
}

impl<'a, T: Element, const N: usize> From<&'a [T; N]> for Array<'a> {
    fn from(elements: &'a [T; N]) -> Self {
        Array::new(elements)
    }
}

impl<'a, T: Element> From<&'a Vec<T>> for Array<'a> {
    fn from(elements: &'a Vec<T>) -> Self {
        Array::new(elements)
    }
}

/// Elements that a call fills: a slice, array or vector of any [`Element`] turns into one by `into()`.
#[derive(Debug)]
pub struct ArrayMut<'a> {
    data: *mut c_void,
    bytes: i64,
    dtype: DType,
    borrow: PhantomData<&'a mut [u8]>,
}

impl<'a> ArrayMut<'a> {
    /// The memory of a slice.
    #[must_use]
    pub fn new<T: Element>(elements: &'a mut [T]) -> Self {
        let data = elements.as_mut_ptr().cast();
        Self { data, bytes: size_of_val(elements) as i64, dtype: T::DTYPE, borrow: PhantomData }
    }

    pub(crate) fn dtype(&self) -> DType {
        self.dtype
    }

    pub(crate) fn parts(&mut self) -> (*mut c_void, i64) {
        (self.data, self.bytes)
    }

    pub(crate) fn must_be(&self, dtype: DType, what: &str) -> Result<(), Error> {
        if self.dtype == dtype { Ok(()) } else { Err(Error::refused(Code::InvalidArgument, format!("{what} are {dtype:?}, not {:?}", self.dtype))) }
    }
}

impl<'a, T: Element> From<&'a mut [T]> for ArrayMut<'a> {
    fn from(elements: &'a mut [T]) -> Self {
        ArrayMut::new(elements)
    }
}

impl<'a, T: Element, const N: usize> From<&'a mut [T; N]> for ArrayMut<'a> {
    fn from(elements: &'a mut [T; N]) -> Self {
        ArrayMut::new(elements)
    }
}

impl<'a, T: Element> From<&'a mut Vec<T>> for ArrayMut<'a> {
    fn from(elements: &'a mut Vec<T>) -> Self {
        ArrayMut::new(elements)
    }
}

/// A backend's stream; the host backend has no other than [`Stream::DEFAULT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream(*mut c_void);

// SAFETY: it is a name that the backend understands, on any thread.
unsafe impl Send for Stream {}
// SAFETY: the same.
unsafe impl Sync for Stream {}

impl Stream {
    /// The backend's default stream.
    pub const DEFAULT: Stream = Stream(std::ptr::null_mut());

    /// A stream by its handle.
    ///
    /// # Safety
    ///
    /// It is a stream of the backend that the capturer works on, and lives as long as work is queued on it.
    #[must_use]
    pub unsafe fn from_raw(handle: *mut c_void) -> Self {
        Self(handle)
    }

    pub(crate) fn raw(self) -> *mut c_void {
        self.0
    }
}

impl Default for Stream {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::{Array, ArrayMut, BF16, DType, F16};
    use crate::Memory;

    #[test]
    fn an_array_is_the_slice_it_was_made_of() {
        let slice = [1_i16, -2, 3];
        let array = Array::from(&slice);
        assert_eq!((array.as_ptr(), array.bytes(), array.dtype(), array.memory()), (slice.as_ptr().cast(), 6, DType::Int16, Memory::Host));
        let (elements, count) = array.elements::<i16>("numbers").unwrap();
        // SAFETY: the slice it came from.
        assert_eq!(unsafe { std::slice::from_raw_parts(elements, count as usize) }, slice);
        assert_eq!(array.elements::<i32>("numbers").unwrap_err().text(), "numbers are Int16, not Int32");
        // SAFETY: nothing reads it.
        let device = unsafe { array.on_device() };
        assert!(device.memory() == Memory::Device && device.on_host("slots").is_err());
    }

    #[test]
    fn what_is_empty_is_given() {
        let empty = Array::new::<u8>(&[]);
        assert!(empty.is_given() && !empty.as_ptr().is_null() && empty.bytes() == 0);
        assert!(!Array::NONE.is_given() && Array::NONE.as_ptr().is_null() && Array::NONE.dtype_or_int64() == DType::Int64.raw());
    }

    #[test]
    fn what_is_filled_is_the_slice() {
        let mut slice = [0_u16; 4];
        let mut array = ArrayMut::from(&mut slice);
        assert!(array.must_be(DType::UInt16, "ids").is_ok() && array.must_be(DType::UInt8, "ids").is_err());
        let (data, bytes) = array.parts();
        // SAFETY: the slice's own bytes.
        unsafe { std::ptr::write_bytes(data.cast::<u8>(), 0xff, bytes as usize) };
        assert_eq!(slice, [u16::MAX; 4]);
    }

    #[test]
    fn halves_are_exact_at_their_edges() {
        let want = [1.0, 2f32.powi(-24), f32::INFINITY].map(f32::to_bits);
        assert_eq!([0x3c00, 0x0001, 0x7c00].map(|bits| F16(bits).to_f32().to_bits()), want);
        assert_eq!(BF16(0xc000).to_f32().to_bits(), (-2.0_f32).to_bits());
    }
}
