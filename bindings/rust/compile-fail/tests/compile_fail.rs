// SPDX-License-Identifier: Apache-2.0

//! What must not compile: the thread tags of the header, the typestate, and lifetimes.

#[test]
fn what_must_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
