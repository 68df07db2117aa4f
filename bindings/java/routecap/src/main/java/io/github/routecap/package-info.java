// SPDX-License-Identifier: Apache-2.0

/**
 * Records which experts a Mixture-of-Experts model routed every token to, and reads, joins, converts and compares what was recorded.
 *
 * <p>A {@link io.github.routecap.Capturer} belongs to one rank of an inference engine. It gets its models and their taps once, is sealed, and then sees
 * every forward: each layer hands over its top-k ids with {@link io.github.routecap.Tap#capture(Capture)}, and {@link
 * io.github.routecap.Capturer#endForward(Forward)} names the KV slot of every row. The {@link io.github.routecap.Output} that it returns brings the rows
 * to the store, on whatever thread. When a request ends, {@link io.github.routecap.Capturer#read(Read)} gives its rows by its slots. A row that nobody
 * captured is missing and says so; it is never zeros.
 *
 * <p>Services need nothing but {@link io.github.routecap.Record}s, which know the forms of SGLang, vLLM and others as well as the library's own frame.
 *
 * <p>A failed call throws a {@link io.github.routecap.RouteCapException} with a {@link io.github.routecap.Code} and a text of one line; an argument that
 * can be refused without asking the library is an {@link java.lang.IllegalArgumentException}. Everything that is {@link java.lang.AutoCloseable} may be
 * closed at any moment and any number of times: a call in progress ends as it would have, a later one says {@link io.github.routecap.Code#CLOSED}. What
 * is forgotten instead is closed some time after it was collected.
 */
package io.github.routecap;
