// SPDX-License-Identifier: Apache-2.0

//! A gateway in front of a prefill and a decode server: it joins the routing that the two recorded, checks it, and answers in the form that the client
//! asked for. The engines are stand-ins: they answer in the servers' envelopes with routes that anybody can compute again.
//!
//! A request is judged before any server is asked. It has at most 1 MiB, 1 .. 32768 tokens of prompt, each 0 .. 2147483647, 1 .. 4096 tokens of output (where
//! `max_tokens` is left out 16, where `max_new_tokens` is 128, as the servers have it) and 1 .. 16 choices (`n` is 1 where it is left out), and comes within
//! 10 s. A client that reads nothing of its answer for as long is gone. A server answers within 30 s, with at most
//!
//! ```text
//! 64 KiB + choices * (rows * layers * K * 11 + tokens * 512) bytes
//! ```
//!
//! whole or streamed, signs of life included: that is what the rows and tokens asked for take in any form, and what the gateway holds of an answer at a
//! time. A longer one is cut off there and is a bad answer (502).
//!
//! Every error is JSON, `{"error":{"code":400,"message":"max_tokens is -1, allowed are whole numbers 1 .. 4096"}}`: 400, 404, 405, 408 and 413 are about the
//! request; a 4xx of a server is passed on with what it says; 502 is a server that fails or answers wrongly, 504 one that does not answer in time. What is
//! no HTTP at all is answered by hyper.

pub mod client;
pub mod engine;
pub mod form;
pub mod front;
mod members;
pub mod options;
mod refuse;
pub mod serve;
mod stream;
