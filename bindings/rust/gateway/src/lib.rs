// SPDX-License-Identifier: Apache-2.0

//! A gateway in front of a prefill and a decode server: it joins the routing that the two recorded, checks it, and answers in the form that the client
//! asked for. The engines are stand-ins: they answer in the servers' envelopes with routes that anybody can compute again.

pub mod client;
pub mod engine;
pub mod form;
pub mod front;
mod stream;
