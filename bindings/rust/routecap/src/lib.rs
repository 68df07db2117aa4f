// SPDX-License-Identifier: Apache-2.0

//! routecap records which experts a Mixture-of-Experts model routed every token to, while an inference engine runs. An engine hands over each layer's
//! top-k ids and names the KV-cache slot of every token; when a request ends it reads the rows by slot.
//!
//! ```
//! use std::time::Duration;
//!
//! use routecap::{Capture, Capturer, Forward, Read, Role, Stream};
//!
//! # fn main() -> routecap::Result<()> {
//! let capturer = Capturer::builder(256, 2, &[3]).chunked_prefill_size(128).num_slots(1024).create()?;
//! let layer = capturer.add_model(Role::Target, "target")?.add_tap(3)?;
//! let sealed = capturer.seal()?;
//! let mut tap = sealed.tap(layer)?;
//!
//! // Every forward: the router's ids [tokens, K], then the tokens' slots; later, on any thread, the rows reach the store.
//! tap.capture(&Capture::new(&[17, 4, 255, 0], 2))?;
//! let mut output = sealed.end_forward(&Forward::new(2).slots(&[40_i64, 41]))?;
//! output.copy_to_host(Stream::DEFAULT)?;
//! output.wait(Duration::from_secs(1))?;
//! assert_eq!(output.finalize()?.rows_stored, 2);
//!
//! // A request of 3 tokens has 2 rows: its last token was never an input.
//! let record = sealed.read(&Read::new(&[40_i64, 41], 3))?;
//! let rows: Vec<Vec<i32>> = record.rows().filter_map(|row| Some(row.experts(0)?.to_vec())).collect();
//! assert_eq!(rows, [[17, 4], [255, 0]]);
//! # Ok(())
//! # }
//! ```
//!
//! # Threads
//!
//! | type | | because the header tags its functions |
//! |---|---|---|
//! | [`Capturer`], [`Sealed`] | `Send`, not `Sync` | `capturer`: one caller at a time |
//! | [`Tap`] | `Send`; capturing takes `&mut`, and there is one at a time | `any`, one caller per tap |
//! | [`Output`] | `Send`; its calls take `&mut` | `handle` |
//! | [`Reader`], [`Record`], [`Backend`] | `Send`, `Sync` | `any` |
//!
//! Nothing is ever left without its capturer, which ends with the last of what works on it.
//!
//! # Features
//!
//! | | |
//! |---|---|
//! | `async` | [`Output`] is a future, under tokio |
//! | `ndarray` | [`Cells::to_ndarray`](Cells) |
//! | `half` | the `half` crate's `f16` and `bf16` as elements |
//! | `serde` | a [`Record`] is a frame: bytes, or base64 for people |
//! | `dynamic-loading` | the library is looked for at the first call instead of linked; without one every call is [`Error::Library`] |

mod algebra;
mod array;
mod capturer;
mod cells;
#[cfg(feature = "async")]
mod completion;
mod config;
#[rustfmt::skip]
#[allow(clippy::doc_markdown)]
mod enums;
mod error;
mod forward;
mod frames;
mod library;
mod output;
mod read;
mod record;
mod sealed;
#[rustfmt::skip]
#[allow(clippy::doc_markdown)]
mod structs;
mod tap;
pub mod trainer;
#[cfg(any(feature = "async", test))]
#[cfg_attr(not(feature = "async"), allow(dead_code))]
mod waiting;
mod wire;

/// What `waiting` locks with: loom's in the workspace's `loom`.
#[cfg(any(feature = "async", test))]
mod sync {
    pub(crate) use std::sync::Mutex;
}

pub use array::{Array, ArrayMut, BF16, Element, F16, Id, Stream, Weight};
pub use capturer::{Capturer, Model, SealError, TapId, TapOptions};
pub use cells::{Cells, Experts, Ids, Row, Rows, Weights};
pub use config::Builder;
pub use enums::{
    Acceptance, AxisOrder, BusyPolicy, CheckLevel, Code, DType, Fault, Fill, FinalizeMode, Format, Gate, Memory, Missing, Overlap, Padding,
    ReadFlags, Role, RowsKind, RowsTerm, SlotUnit, Split, TapFlags, WeightsKind,
};
pub use error::{Error, LoadError};
pub use forward::{Accept, Forward};
pub use frames::{FrameError, Frames};
pub use library::{Backend, RankRows, abi_version, build_info, version};
pub use output::Output;
pub use read::{Read, ReadBuffers};
pub use record::{Record, RecordBuilder};
pub use routecap_sys::Tried;
pub use sealed::{Completion, Reader, Sealed};
pub use structs::{BackendInfo, BuildInfo, CompareReport, Plan, ReadInfo, RecordInfo, SlotInfo, Stats, Summary};
pub use tap::{Capture, Tap};
pub use wire::{DecodeHints, EncodeOptions};

/// What a call gives, or why it was refused.
pub type Result<T> = std::result::Result<T, Error>;
