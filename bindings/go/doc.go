// SPDX-License-Identifier: Apache-2.0

// Package routecap records which experts a Mixture-of-Experts model routed every token to, and reads, joins, converts and compares what was recorded.
//
// # Recording
//
// A [Capturer] belongs to one rank of an inference engine. It gets its models and their taps once, is sealed, and then sees every forward: each layer
// hands over its top-k ids with [Tap.Capture], and [Capturer.EndForward] names the KV slot of every row. The [Output] that it returns brings the rows
// to the store, on whatever goroutine: [Output.CopyToHost], [Output.Wait], [Output.Finalize]. When a request ends, [Capturer.Read] gives its rows by
// its slots. A row that nobody captured is missing and says so; it is never zeros.
//
// # Records
//
// A [Record] is immutable and owns its bytes. Services need nothing but records: [Decode] and [Record.Encode] know the forms of SGLang, vLLM and others
// as well as the library's own frame, which [ReadRecord], [Record.WriteTo] and encoding/json read and write.
//
// # Arrays
//
// Arrays cross without a copy, as an [Array] of a slice: the library reads or fills the slice's own memory during the call and keeps no pointer to it
// (an id map excepted, which is pinned as long as its capturer lives). What is not given is the zero Array, or a nil slice where a field is a plain slice;
// what is given and has no elements says so, and is refused where elements are due.
//
// # Errors
//
// A failed call returns an [*Error] with a [Code] and a text of one line; errors.Is(err, routecap.ErrBusy) asks for a code. Calls that wait take a
// context and return its error when it is done first.
//
// # Lifetime and goroutines
//
// Capturers, outputs, records and backends are closed with Close, which may be called any number of times; one that is dropped instead is closed some
// time after it was collected. After Close every method returns an error that is [ErrClosed], and so does every method of nil or of a zero value that was
// never made (a zero [Output] and a zero [Record] can be filled). Close may come at any moment, also during another call on the same handle: that call ends
// as it would have, and the last one to end gives the memory back.
//
// All methods may be called from any goroutine. What the engine does to a capturer (models, seal, forwards, slots) and what is done to one output is
// done one call at a time; calls that come at once wait for each other. Captures on different taps, calls on different outputs, reads, records and
// statistics run side by side. Two captures on one tap at once, or a capture while a forward is ended, mix up the rows of the two.
package routecap
