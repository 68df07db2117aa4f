// SPDX-License-Identifier: Apache-2.0

//! The crate's tests against the library: one program, because linking costs more than running.

// What is shared between the modules of a program is nobody's API, and a test's function is as long as what it tests.
#![allow(unreachable_pub, missing_debug_implementations, clippy::too_many_lines)]
// Weights are compared bit by bit on purpose; the others are matters of taste that a test may decide for itself.
#![allow(clippy::float_cmp, clippy::needless_for_each, clippy::struct_field_names, clippy::match_same_arms, clippy::unnecessary_operation)]

mod capture;
#[cfg(feature = "async")]
mod completion;
mod errors;
#[cfg(all(feature = "half", feature = "ndarray", feature = "serde"))]
mod features;
mod lifetimes;
mod manifest;
mod properties;
mod record;
mod replay;
mod scene;
mod trainer;
mod wire;
