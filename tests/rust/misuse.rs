// SPDX-License-Identifier: Apache-2.0

//! Breaks the contract of the C API on purpose, for the address sanitizer to find: uses a backend that was given back.

use std::ffi::{c_char, c_void};

unsafe extern "C" {
    fn rcap_backend_open(name: *const c_char, options: *const c_void, backend: *mut *mut c_void, err: *mut c_void) -> i32;
    fn rcap_backend_describe(backend: *mut c_void, info: *mut c_void, err: *mut c_void) -> i32;
    fn rcap_backend_destroy(backend: *mut c_void);
}

/// Room for any struct of the library; the first number is its size.
static mut STRUCT: [i64; 64] = [256; 64];

fn main() {
    let mut backend = std::ptr::null_mut();
    unsafe {
        assert_eq!(rcap_backend_open(c"host".as_ptr(), std::ptr::null(), &raw mut backend, std::ptr::null_mut()), 0);
        rcap_backend_destroy(backend);
        println!("{}", rcap_backend_describe(backend, (&raw mut STRUCT).cast(), std::ptr::null_mut()));
    }
}
