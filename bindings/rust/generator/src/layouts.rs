// SPDX-License-Identifier: Apache-2.0

//! `routecap-sys/tests/layouts.rs`: sizes and offsets that api.json promises, held against what rustc makes of the declarations from SWIG.

use std::fmt::Write;

use crate::api::Api;

pub(crate) fn write(api: &Api) -> String {
    let mut out = String::from(crate::ffi::HEADER);
    out.push_str("//! Sizes, offsets and defaults of the structs, as capi/abi/api.json has them.\n\n#![allow(clippy::too_many_lines)]\n\nuse std::mem::{offset_of, size_of};\n\nuse routecap_sys::*;\n\n");
    out.push_str("/// Offset and size of a field.\nmacro_rules! field {\n    ($of:ident . $field:ident) => {{\n        fn size<T>(_: impl Fn(&$of) -> &T) -> usize {\n            size_of::<T>()\n        }\n");
    out.push_str("        (offset_of!($of, $field), size(|value: &$of| &value.$field))\n    }};\n}\n\n#[test]\nfn layouts() {\n");
    for one in &api.structs {
        let _ = writeln!(out, "    assert_eq!(size_of::<{}>(), {}, \"{}\");", one.name, one.size, one.name);
        for field in &one.fields {
            let _ = writeln!(
                out,
                "    assert_eq!(field!({}.{}), ({}, {}), \"{}.{}\");",
                one.name, field.name, field.offset, field.size, one.name, field.name
            );
        }
    }
    let functions = api.function_names().count();
    let _ = writeln!(out, "    assert_eq!(size_of::<rcap_api>(), 16 + {functions} * size_of::<usize>(), \"rcap_api\");");
    let _ = writeln!(out, "    assert_eq!(FUNCTIONS.len(), {functions});\n}}\n");
    out.push_str("/// The library's own idea of a struct's defaults, byte by byte, against the constant.\nmacro_rules! same_defaults {\n    ($of:ident, $init:ident) => {{\n");
    out.push_str("        let mut theirs = std::mem::MaybeUninit::<$of>::zeroed();\n        // SAFETY: it writes as many bytes as it is told.\n        unsafe { $init(theirs.as_mut_ptr(), size_of::<$of>() as i64) };\n");
    out.push_str("        let ours = $of::DEFAULT;\n        // SAFETY: the structs have no padding, which the sizes of their fields add up to.\n        let (ours, theirs) = unsafe {\n");
    out.push_str("            (std::slice::from_raw_parts((&raw const ours).cast::<u8>(), size_of::<$of>()), std::slice::from_raw_parts(theirs.as_ptr().cast::<u8>(), size_of::<$of>()))\n");
    out.push_str("        };\n        assert_eq!(ours, theirs, stringify!($of));\n    }};\n}\n\n#[test]\nfn defaults() {\n");
    for one in &api.structs {
        let _ = writeln!(out, "    same_defaults!({}, {});", one.name, one.init);
    }
    out.push_str("}\n");
    out
}
