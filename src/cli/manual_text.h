// SPDX-License-Identifier: Apache-2.0
//
// The prose of routecap(1), in man(7) macros.
#pragma once

namespace routecap::cli {

inline constexpr const char* kManualSummary = "look into, draw, check and convert records of expert routing";

inline constexpr const char* kManualDescription =
    R"(A record says which experts a Mixture-of-Experts model chose for every token of a request: for each token position (row) and
captured layer the ids of K of E experts, and, where they were kept, their weights.
Rows that nobody captured are missing, which is not the same as zeros.
.B routecap
reads records in the forms that inference engines and trainers use, shows and checks them, and makes others of them.
.PP
A file named
.B \-
is standard input, or standard output behind
.BR \-o .
A file that is written appears whole under its name or not at all, also when the program is interrupted.
What the bytes of a form do not say is never guessed: the message names the option that says it.
Positions, frames, choices and layers are counted from 0; where a message says row, it is counted from 0 at the first row of the record. A range A:B holds A and not B.
)";

inline constexpr const char* kManualRest = R"(.SH FORMS
.TP
.B frame
The library's own, checksummed; it carries everything, and several may follow each other.
.TP
.B frame\-base64
The same as text.
.TP
.B sglang
Base64 of a flat array, int32 unless
.B \-\-dtype
says otherwise: ids.
.TP
.B vllm
Base64 of a .npy: ids, shape.
.TP
.B npy
A .npy: ids, shape.
.TP
.B prime
JSON object with data, shape, start and dtype: ids, shape, start.
.TP
.B nemo
nrlre1:<dtype>:<S>x<L>x<K>:<base64>: ids, shape, missing rows.
.TP
.B lists
Nested JSON lists: ids, shape.
.TP
.B csv
moe\-trace CSV: ids, weights, layers, positions, missing rows.
.PP
All but
.B sglang
are told by their content.
.SH ANSWERS OF SERVERS
A whole HTTP answer may stand where a record does, also a stream of server\-sent events (lines that begin with
.BR data: ).
Records are found at
.I meta_info.routed_experts
(SGLang /generate, one answer or a list),
.I sglext.routed_experts
(SGLang's OpenAI endpoints),
.I choices[i].routed_experts
(vLLM, prime\-rl) and
.I nvext.routed_experts
(Dynamo; data in base 85 too).
Where the answer counts prompt and generated tokens, n of them together, and
.B \-\-start
is not given, the rows are those up to position n \- 2, as many as there are:
.B inspect
and
.B validate
say that the start was derived from the token counts.
An event of a stream that is no JSON is named, and the records of the other events are read.
.SH FINDINGS
.B validate
prints one a line: layers, token positions, what is wrong, the likely cause, the rule of the contract. With
.B \-\-json
each also has a kind:
.TP
.B out\-of\-range
An id is not below E: physical ids instead of logical ones, or the column of a fused shared expert.
.TP
.B duplicate
An id stands twice in a row of a layer: zero padding, or a row mixed of two.
.TP
.B all\-zero\-layer
All ids of a layer are 0 in every row: the kernel bypassed the tap, or a dense layer.
.TP
.B never\-written
No row has an id in a layer, or in any.
.TP
.B missing\-as\-ids
Every byte is 0xFF: missing rows were taken for ids.
.TP
.B repeated
The same row many times in a run, in all layers (3 rows or more) or in one (16 or more): stale or padded rows.
.TP
.B sorted
The ids of every row ascend in a layer that is not flagged as unordered.
.TP
.B weights
A weight is not finite, or renormalized weights do not add up to 1.
.TP
.B version\-order
Rows of an older weight version behind rows of a newer one.
.TP
.B row\-count
The rows do not end where the answer's count of tokens says, or they are fewer than its generated tokens need.
.TP
.B missing
A row is missing; only with
.BR \-\-complete .
.TP
.B unreadable
The form itself is broken: truncated, a wrong checksum, an id that it cannot have. Nothing behind it was looked at.
.SH EXIT STATUS
.TP
.B 0
Done;
.B validate
found nothing,
.B diff
found both the same.
.TP
.B 1
Done;
.B validate
found something,
.B diff
found a difference,
.B demo
found a wrong row.
.TP
.B 2
The command line, or what an input holds, is refused.
.TP
.B 3
An input could not be read or an output not be written, or memory was short. A closed pipe counts as such.
.TP
.B 4
A bug in the program, or, found by
.BR doctor ,
in the library.
.PP
After SIGINT, SIGTERM and SIGHUP the program ends by that signal.
.SH EXAMPLES
.nf
routecap inspect capture.frame \-\-rows 100:104
routecap validate answer.json \-\-layers 61 \-\-top\-k 8 \-\-experts 256
routecap convert answer.json \-\-choice 1 \-\-experts 256 \-\-start 0 \-o choice1.frame
routecap convert capture.frame \-\-to sglang \-\-missing minus\-one
routecap merge prefill.frame decode.frame \-\-boundary 512 \-o whole.frame
routecap stats capture.frame \-\-csv \-\-table load \-o load.csv
routecap heatmap capture.frame \-o load.html
routecap diff before.frame after.frame \-\-heatmap parted.html
curl ... | routecap diff \-\-ids\-only \-\-experts 128 \- before.frame
.fi
.SH ENVIRONMENT
.TP
.B ROUTECAP_BACKEND_PATH
Folders (absolute ones, separated by colons) in which
.B doctor
looks for backend plugins first.
)";

}  // namespace routecap::cli
