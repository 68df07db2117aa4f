// SPDX-License-Identifier: Apache-2.0
// generated from capi/api by capi/cmake/GenerateCapi.cmake; change those and run the target `capi-update`

/**
 * @file
 * routecap: records which experts a Mixture-of-Experts model routed every token to.
 *
 * Conventions
 *  - Functions that can fail return a negative `rcap_status` and end in `rcap_error* err`; null there means that the text is not wanted.
 *  - Handles are pointers to distinct incomplete structs. `rcap_x_destroy(NULL)` does nothing.
 *  - Structs begin with `struct_size` and only ever grow at their end. Set them up with `RCAP_X_INIT` or `rcap_x_init(&x, sizeof x)`.
 *    A field that an older caller's struct lacks counts as 0; a byte other than 0 that an older library does not know is UNSUPPORTED.
 *  - Arrays are adjacent parameters: `x` and `x_count` (elements) or `x_bytes`. Host arrays are read before the call returns. What a device pointer
 *    points to stays as it is until the work that the call queued has run, or as long as a graph that recorded it may be replayed.
 *  - Strings are UTF-8 and zero-terminated. The library never hands out memory that the caller frees; borrowed pointers say how long they live.
 *
 * Threads: `@thread` of a function says which calls may run at once.
 *  - any: with anything, itself included, as long as the handle is not being destroyed.
 *  - handle: one caller at a time for a handle; calls on other handles are free.
 *  - capturer: one caller at a time among all `capturer` functions of one capturer, its models and its taps: the engine's thread.
 *  Handles may move between threads. Captures on different taps, outputs, reads and counters run at once with each other and with the engine's
 *  thread. Destroying needs that no call on the handle is in progress.
 *
 * After fork() the child's calls on inherited handles answer FORKED; records go on working. No function prints, raises signals, changes the
 * environment or keeps state of the process. Functions tagged `@capture ok` may be called while a graph is being captured.
 */
#ifndef ROUTECAP_H
#define ROUTECAP_H

#ifdef ROUTECAP_FLAT_H
#error "include routecap.h or routecap_flat.h, not both"
#endif

#include <stdint.h>

#define RCAP_VERSION_MAJOR 0
#define RCAP_VERSION_MINOR 1
#define RCAP_VERSION_PATCH 0
#define RCAP_VERSION_STRING "0.1.0"
/** The number that `rcap_get_api` takes; grows only when something is changed or removed. */
#define RCAP_ABI_VERSION 1

/* Each of these may be defined by the includer, for example as nothing. */
#ifndef RCAP_API
#if defined(__GNUC__)
#define RCAP_API __attribute__((visibility("default")))
#else
#define RCAP_API
#endif
#endif

#ifndef RCAP_NOEXCEPT
#if defined(__cplusplus)
#define RCAP_NOEXCEPT noexcept
#else
#define RCAP_NOEXCEPT
#endif
#endif

#ifndef RCAP_NODISCARD
#if defined(__cplusplus) && __cplusplus >= 201703L
#define RCAP_NODISCARD [[nodiscard]]
#else
#define RCAP_NODISCARD
#endif
#endif

#ifndef RCAP_DEPRECATED
#if defined(__GNUC__)
#define RCAP_DEPRECATED(text) __attribute__((deprecated(text)))
#else
#define RCAP_DEPRECATED(text)
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** One of `enum rcap_status_value`, or what the function says; negative is a failure. */
typedef int32_t rcap_status;

/**
 * A place where rows are captured: the host (built in) or an accelerator (a plugin). Reference-counted: capturers keep theirs alive.
 *
 * @destroy rcap_backend_destroy
 * @since 0.1
 */
typedef struct rcap_backend rcap_backend;

/**
 * Records the routing of one engine rank. Any number live in one process, fully independent (R35).
 *
 * @destroy rcap_capturer_destroy
 * @since 0.1
 */
typedef struct rcap_capturer rcap_capturer;

/**
 * The target model of a capturer, or one of its drafts. Owned by the capturer and valid as long as it lives.
 *
 * @borrowed rcap_capturer
 * @since 0.1
 */
typedef struct rcap_model rcap_model;

/**
 * The place of one MoE layer of one model where ids are handed over. Carries its model's gate (R19). Owned by the capturer.
 *
 * @borrowed rcap_capturer
 * @since 0.1
 */
typedef struct rcap_tap rcap_tap;

/**
 * One ended forward on its way to the store. Owned by the caller; safe to use after its capturer is gone (then everything answers CLOSED, R34).
 *
 * @destroy rcap_output_destroy
 * @since 0.1
 */
typedef struct rcap_output rcap_output;

/**
 * Rows that left the library: owns its bytes, knows its geometry, never changes. Usable from any thread, after its capturer is gone, and in a forked child.
 *
 * @destroy rcap_record_destroy
 * @since 0.1
 */
typedef struct rcap_record rcap_record;

typedef struct rcap_error rcap_error;
typedef struct rcap_build_info rcap_build_info;
typedef struct rcap_backend_options rcap_backend_options;
typedef struct rcap_backend_info rcap_backend_info;
typedef struct rcap_capturer_config rcap_capturer_config;
typedef struct rcap_capturer_plan rcap_capturer_plan;
typedef struct rcap_tap_options rcap_tap_options;
typedef struct rcap_capture_layout rcap_capture_layout;
typedef struct rcap_capturer_stats rcap_capturer_stats;
typedef struct rcap_forward_layout rcap_forward_layout;
typedef struct rcap_accept_layout rcap_accept_layout;
typedef struct rcap_summary rcap_summary;
typedef struct rcap_slots_layout rcap_slots_layout;
typedef struct rcap_slot_info rcap_slot_info;
typedef struct rcap_read_layout rcap_read_layout;
typedef struct rcap_read_info rcap_read_info;
typedef struct rcap_record_layout rcap_record_layout;
typedef struct rcap_record_info rcap_record_info;
typedef struct rcap_compare_report rcap_compare_report;
typedef struct rcap_fill_layout rcap_fill_layout;
typedef struct rcap_partition_layout rcap_partition_layout;
typedef struct rcap_encode_options rcap_encode_options;
typedef struct rcap_decode_hints rcap_decode_hints;

/* ---- library ---- */

/**
 * Result of a call. OK is 0, every other value is negative; values are pinned and never reused.
 *
 * Predicates return 1, 0 or one of the negative values. BUSY, NOT_READY and TIMEOUT are answers rather than faults: they format no text.
 *
 * @since 0.1
 */
enum rcap_status_value {
  /** Done. */
  RCAP_STATUS_OK = 0,
  /** An argument is null, malformed, contradicts another one, or names something unknown. Nothing was changed. */
  RCAP_STATUS_INVALID_ARGUMENT = -1,
  /** The call does not fit the state of its handle (before seal, after it, accepted twice). Nothing was changed. */
  RCAP_STATUS_INVALID_STATE = -2,
  /** A count, slot, row, layer or position lies outside its range; the text names the value and the limit. Nothing was changed. */
  RCAP_STATUS_OUT_OF_RANGE = -3,
  /** Memory could not be had. Nothing was changed. */
  RCAP_STATUS_OUT_OF_MEMORY = -4,
  /** What was asked for is not there yet; `rcap_error.detail` names the sequence that is lacking where there is one. */
  RCAP_STATUS_NOT_READY = -5,
  /** Every staging block is in flight (R32). Finalize the oldest output and call again. */
  RCAP_STATUS_BUSY = -6,
  /** The given time has passed. */
  RCAP_STATUS_TIMEOUT = -7,
  /** The capturer of this output is gone (R34). */
  RCAP_STATUS_CLOSED = -8,
  /** The library knows what is meant and cannot do it: a newer struct's non-zero field, an unknown flag, a dtype pair without a conversion. */
  RCAP_STATUS_UNSUPPORTED = -9,
  /** Another version of a format, a plugin or the interface is needed. */
  RCAP_STATUS_VERSION_MISMATCH = -10,
  /** Bytes do not hold what their header promises. */
  RCAP_STATUS_CORRUPT = -11,
  /** No backend, tap or entry of that name or number. */
  RCAP_STATUS_NOT_FOUND = -12,
  /** A backend was found, its device was not. */
  RCAP_STATUS_NO_DEVICE = -13,
  /** The device reported a fault; nothing of the output it touched was stored (R34). */
  RCAP_STATUS_DEVICE = -14,
  /** The handle was inherited through fork(); only records work in the child. */
  RCAP_STATUS_FORKED = -15,
  /** A bug in this library; please report the text. */
  RCAP_STATUS_INTERNAL = -16
};

/**
 * Type of one element. Values are pinned.
 *
 * @since 0.1
 */
enum rcap_dtype_value {
  /** No such array. */
  RCAP_DTYPE_NONE = 0,
  /** Unsigned 8 bit. */
  RCAP_DTYPE_UINT8 = 1,
  /** Unsigned 16 bit. */
  RCAP_DTYPE_UINT16 = 2,
  /** Signed 16 bit. */
  RCAP_DTYPE_INT16 = 3,
  /** Signed 32 bit. */
  RCAP_DTYPE_INT32 = 4,
  /** Signed 64 bit. */
  RCAP_DTYPE_INT64 = 5,
  /** IEEE 754 binary16. */
  RCAP_DTYPE_FLOAT16 = 6,
  /** bfloat16: the upper half of a binary32. */
  RCAP_DTYPE_BFLOAT16 = 7,
  /** IEEE 754 binary32. */
  RCAP_DTYPE_FLOAT32 = 8
};

/**
 * Where an array lives. The host backend reads both kinds at the call; what it finds in DEVICE memory it treats as an accelerator does:
 * bad entries are found at finalize, row by row, instead of refusing the call (R14).
 *
 * @since 0.1
 */
enum rcap_memory_value {
  /** Ordinary memory, read before the call returns and checked before anything is written. */
  RCAP_MEMORY_HOST = 0,
  /** Memory of the backend's device, read in stream order; valid until the queued work has run. */
  RCAP_MEMORY_DEVICE = 1
};

/**
 * What went wrong, in the caller's memory. A null pointer, or a `struct_size` below the 256 bytes of this struct, means that the caller does not want it:
 * nothing is written then. A larger one is a newer caller's, and only the first 256 bytes are written.
 *
 * `text` is one line: what was refused, with which value, against which limit. It is empty for OK, BUSY, NOT_READY and TIMEOUT.
 *
 * @init_slot 0
 * @since 0.1
 */
struct rcap_error {
  /** Bytes of this struct, set by `rcap_error_init`. */
  int64_t struct_size;
  /** The status that the call returned. */
  int32_t code;
  /** Always 0. */
  int32_t reserved;
  /** NOT_READY of a read or of slot_info: the sequence that is lacking; else 0. */
  int64_t detail;
  /** One line, UTF-8, zero-terminated, cut at 231 bytes. */
  char text[232];
};

/** What `rcap_error_init` writes, as an initializer. */
#define RCAP_ERROR_INIT {256, 0, 0, 0, {0}}

/**
 * Sets a `rcap_error` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 0
 */
RCAP_API void rcap_error_init(rcap_error* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * How the library was built and what it uses on this machine.
 *
 * @init_slot 1
 * @since 0.1
 */
struct rcap_build_info {
  /** Bytes of this struct. */
  int64_t struct_size;
  /** ABI number, as `rcap_abi_version`. */
  int32_t abi_version;
  /** Always 0. */
  int32_t reserved;
  /** Product version, zero-terminated. */
  char version[32];
  /** Compiler and its version. */
  char compiler[64];
  /** Instruction set that the row loops use on this machine: `scalar`, `avx2`, `avx512` or `neon`. */
  char simd[16];
  /** Blank-separated list: `thrust=1.17.2 asserts=off`. */
  char features[128];
};

/** What `rcap_build_info_init` writes, as an initializer. */
#define RCAP_BUILD_INFO_INIT {256, 0, 0, {0}, {0}, {0}, {0}}

/**
 * Sets a `rcap_build_info` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 1
 */
RCAP_API void rcap_build_info_init(rcap_build_info* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * Product version, for example `0.1.0`. Static, never freed.
 *
 * @return zero-terminated ASCII, valid as long as the library is loaded
 * @thread any
 * @since 0.1
 * @slot 2
 */
RCAP_API const char* rcap_version_string(void) RCAP_NOEXCEPT;

/**
 * ABI number of this library; `rcap_get_api` takes it and every smaller one from 1 on.
 *
 * @return a positive number
 * @thread any
 * @since 0.1
 * @slot 3
 */
RCAP_API int32_t rcap_abi_version(void) RCAP_NOEXCEPT;

/**
 * Name of a status, for example `RCAP_STATUS_BUSY`. Static, never freed.
 *
 * @param status  any number
 * @return the name; `RCAP_STATUS_UNKNOWN` for a number that is no status
 * @thread any
 * @since 0.1
 * @slot 4
 */
RCAP_API const char* rcap_status_name(int32_t status) RCAP_NOEXCEPT;

/**
 * Tells how the library was built.
 *
 * @param info  struct to fill, `struct_size` set; the smaller of both sizes is written and the rest zeroed
 * @return OK | INVALID_ARGUMENT (null, struct_size < 16)
 * @thread any
 * @since 0.1
 * @slot 5
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_build_info_get(rcap_build_info* info, rcap_error* err) RCAP_NOEXCEPT;

/**
 * First row and number of rows of one rank in the device buffer, for the layouts engines use (R16).
 *
 * LOCAL: the buffer holds this rank's tokens only. CONCATENATED: all data-parallel ranks' tokens one after the other, each share rounded up to a
 * multiple of `attn_tp_size` (1 = not rounded). PADDED: rank r's tokens stand at r * padded_tokens_per_rank. SHARDED: the rank's tokens
 * are split over attention tensor parallelism in shards of ceil(tokens / attn_tp_size), the last ones short or empty, and the buffer holds this
 * shard only; its slots are those from attn_tp_rank * ceil(tokens / attn_tp_size) on. An idle rank gets 0 tokens and is legal.
 *
 * @param kind                    a `rcap_rows_kind`
 * @param tokens_per_rank         tokens of every data-parallel rank, each >= 0
 * @param tokens_per_rank_count   number of data-parallel ranks, > 0
 * @param dp_rank                 this rank, 0 .. tokens_per_rank_count - 1
 * @param attn_tp_size            attention tensor parallel size, >= 1 (read by CONCATENATED and SHARDED)
 * @param attn_tp_rank            0 .. attn_tp_size - 1 (read by SHARDED)
 * @param padded_tokens_per_rank  rows of each rank's share, >= every rank's tokens (read by PADDED)
 * @param first_row               receives the first row
 * @param tokens                  receives the number of rows
 * @return OK | INVALID_ARGUMENT (null, unknown kind) | OUT_OF_RANGE (a rank, count or size outside its range, an overflowing sum)
 * @thread any
 * @since 0.1
 * @slot 6
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_layout_rows(int32_t kind, const int64_t* tokens_per_rank, int64_t tokens_per_rank_count, int64_t dp_rank,
                                                     int64_t attn_tp_size, int64_t attn_tp_rank, int64_t padded_tokens_per_rank, int64_t* first_row,
                                                     int64_t* tokens, rcap_error* err) RCAP_NOEXCEPT;

/**
 * How the rows of the data-parallel ranks stand in the device buffer (R16).
 *
 * @since 0.1
 */
enum rcap_rows_kind_value {
  /** This rank's tokens alone, from row 0. */
  RCAP_ROWS_LOCAL = 0,
  /** All ranks' tokens, one after the other. */
  RCAP_ROWS_CONCATENATED = 1,
  /** Every rank's share padded to the same number of rows. */
  RCAP_ROWS_PADDED = 2,
  /** This attention-TP rank's shard alone, from row 0. */
  RCAP_ROWS_SHARDED = 3
};

/* ---- backend ---- */

/**
 * How to open a backend.
 *
 * @init_slot 7
 * @since 0.1
 */
struct rcap_backend_options {
  /** Bytes of this struct. */
  int64_t struct_size;
  /** Which device of its kind; the host has only 0. */
  int32_t device_ordinal;
  /** Threads the backend may use for one call; 0 = its default. The host backend works on the caller's thread alone: 0 or 1. */
  int32_t threads;
};

/** What `rcap_backend_options_init` writes, as an initializer. */
#define RCAP_BACKEND_OPTIONS_INIT {16, 0, 0}

/**
 * Sets a `rcap_backend_options` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 7
 */
RCAP_API void rcap_backend_options_init(rcap_backend_options* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * What a backend says of itself.
 *
 * @init_slot 8
 * @since 0.1
 */
struct rcap_backend_info {
  /** Bytes of this struct. */
  int64_t struct_size;
  /** Which device of its kind. */
  int32_t device_ordinal;
  /** Threads it uses at most. */
  int32_t threads;
  /** 1 if its memory can be read by the host without a copy, else 0. */
  int32_t host_memory;
  /** Always 0. */
  int32_t reserved;
  /** Name, as for `rcap_backend_open`. */
  char name[32];
  /** Device and driver in words. */
  char description[128];
  /** Bytes of device memory that capturers hold at the moment. This and the counters below are 0 where the backend does not count, as the host. */
  int64_t device_bytes;
  /** The same of pinned host memory. */
  int64_t pinned_bytes;
  /** Captures since it was opened. */
  int64_t captures;
  /** Snapshots: one for each forward. */
  int64_t snapshots;
  /** Copies to the host. */
  int64_t copies;
  /** Bytes that these copies moved. */
  int64_t copied_bytes;
  /** 1 if the device has failed for good (R34): close everything and open it again, in a new process where its driver needs one. */
  int32_t lost;
  /** Always 0. */
  int32_t reserved2;
};

/** What `rcap_backend_info_init` writes, as an initializer. */
#define RCAP_BACKEND_INFO_INIT {240, 0, 0, 0, 0, {0}, {0}, 0, 0, 0, 0, 0, 0, 0, 0}

/**
 * Sets a `rcap_backend_info` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 8
 */
RCAP_API void rcap_backend_info_init(rcap_backend_info* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * Opens a backend. `host` is built in; every other is a plugin (`backend.h`), which is loaded once and stays in the process.
 *
 * A name is looked for as `libroutecap_backend_<name>.so` in the folders of the environment variable ROUTECAP_BACKEND_PATH (absolute ones, separated by
 * colons; not in a privileged process), in `routecap/backends-<abi>/` beside the library, and in the same folder of the configured library folder; never
 * in the current folder. A file that will not do is passed over. The text of a failure says every place and why; `rcap_backend_search` says it whole.
 *
 * @param name     zero-terminated; `host`, a name of a-z, 0-9, _ and -, or the absolute path of a plugin
 * @param options  null for the defaults
 * @param backend  receives the handle; the caller destroys it
 * @return OK | INVALID_ARGUMENT (null, empty or impossible name, a relative path, a file that is no plugin) | NOT_FOUND (no such file) | CORRUPT (no shared
 *         object) | UNSUPPORTED (of another architecture; an option) | VERSION_MISMATCH (of another interface) | INVALID_STATE (a library that the plugin
 *         needs is lacking) | NO_DEVICE (the plugin finds none) | DEVICE | OUT_OF_RANGE (device or threads) | OUT_OF_MEMORY
 * @owner backend
 * @thread any
 * @since 0.1
 * @slot 9
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_backend_open(const char* name, const rcap_backend_options* options, rcap_backend** backend,
                                                      rcap_error* err) RCAP_NOEXCEPT;

/**
 * Tells where a backend of that name is looked for and what is there: one line a place, its path and `loads` or why not. Loads what can be loaded, opens nothing.
 *
 * @param name        as for `rcap_backend_open`
 * @param text        receives the lines, zero-terminated; null with capacity 0
 * @param text_bytes  capacity
 * @param needed      receives the bytes written, or needed, the zero included
 * @return OK | INVALID_ARGUMENT | OUT_OF_RANGE (capacity, `needed` is set) | OUT_OF_MEMORY
 * @thread any
 * @since 0.1
 * @slot 84
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_backend_search(const char* name, void* text, int64_t text_bytes, int64_t* needed,
                                                        rcap_error* err) RCAP_NOEXCEPT;

/**
 * Describes an open backend.
 *
 * @param self  an open backend
 * @param info  struct to fill, `struct_size` set
 * @return OK | INVALID_ARGUMENT | FORKED
 * @thread any
 * @since 0.1
 * @slot 10
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_backend_describe(const rcap_backend* self, rcap_backend_info* info, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Gives the handle back; capturers made with it go on working.
 *
 * @param self  null does nothing
 * @frees self
 * @thread handle
 * @since 0.1
 * @slot 11
 */
RCAP_API void rcap_backend_destroy(rcap_backend* self) RCAP_NOEXCEPT;

/* ---- capturer ---- */

/**
 * What the routing weights mean (R29).
 *
 * @since 0.1
 */
enum rcap_weights_kind_value {
  /** As the router gave them. */
  RCAP_WEIGHTS_AS_ROUTED = 0,
  /** Divided by the sum of the chosen ones. */
  RCAP_WEIGHTS_RENORMALIZED = 1,
  /** Multiplied by the model's routed scaling factor. */
  RCAP_WEIGHTS_SCALED = 2
};

/**
 * How closely rows are checked before they are stored.
 *
 * @since 0.1
 */
enum rcap_check_level_value {
  /** Ids in range, every layer captured, slots and rows in range and named once. */
  RCAP_CHECK_BASIC = 0,
  /** As BASIC, and no id twice in one layer of a row (R25). */
  RCAP_CHECK_FULL = 1
};

/**
 * Who finalizes outputs.
 *
 * @since 0.1
 */
enum rcap_finalize_mode_value {
  /** The caller: `rcap_output_copy_to_host`, then `rcap_output_finalize`, on any thread. */
  RCAP_FINALIZE_CALLER = 0,
  /** One thread of the capturer, started by the first `rcap_capturer_end_forward`; all its signals are blocked. */
  RCAP_FINALIZE_OWN_THREAD = 1
};

/**
 * What `rcap_capturer_end_forward` does when every staging block is in flight (R32).
 *
 * @since 0.1
 */
enum rcap_busy_policy_value {
  /** Answers BUSY at once. */
  RCAP_BUSY_REFUSE = 0,
  /** Waits up to `busy_timeout_ns`, then answers BUSY. Only with OWN_THREAD: otherwise nobody would end the wait. */
  RCAP_BUSY_WAIT = 1
};

/**
 * What decided the number of device rows (R13).
 *
 * @since 0.1
 */
enum rcap_rows_term_value {
  /** chunked_prefill_size (or max_forward_tokens) * dp_size. */
  RCAP_TERM_PREFILL = 0,
  /** max_running_requests * max(1, num_verify_tokens) * dp_size. */
  RCAP_TERM_RUNNING = 1,
  /** max_graph_tokens * dp_size. */
  RCAP_TERM_GRAPH = 2
};

/**
 * Part of a model in its capturer.
 *
 * @since 0.1
 */
enum rcap_model_role_value {
  /** The model whose output the client gets; one a capturer. */
  RCAP_ROLE_TARGET = 0,
  /** A speculative proposer; any number, always denied (R18). */
  RCAP_ROLE_DRAFT = 1
};

/**
 * Gate of a model's taps.
 *
 * @since 0.1
 */
enum rcap_capture_gate_value {
  /** Captures are counted and not written. */
  RCAP_CAPTURE_DENY = 0,
  /** Captures are written. */
  RCAP_CAPTURE_ALLOW = 1
};

/**
 * Properties of a captured layer; they travel with the records.
 *
 * @flags
 * @since 0.1
 */
enum rcap_tap_flag_value {
  /** The ids do not come from a learned router (R26). */
  RCAP_TAP_HASH_ROUTED = 1,
  /** The order of the columns means nothing (R24). */
  RCAP_TAP_UNORDERED = 2,
  /** The layer may run on some rows of a forward only; validity is kept cell by cell (R7). */
  RCAP_TAP_PARTIAL = 4
};

/**
 * Geometry of a capturer. Tokens, requests and slots are counts; every product is checked for overflow.
 *
 * @init_slot 12
 * @since 0.1
 */
struct rcap_capturer_config {
  /** Bytes of this struct. */
  int64_t struct_size;
  /** E: logical routed experts of a layer, >= 1. Decides the id dtype: uint8 up to 256, uint16 up to 65536, else int32 (R28). */
  int32_t num_experts;
  /** K: experts chosen per token and layer, 1 .. E, shared experts not counted. */
  int32_t top_k;
  /** Columns behind the first K that a kernel with fused shared experts adds; they are dropped (R23). */
  int32_t num_fused_shared_experts;
  /** FLOAT16, BFLOAT16 or FLOAT32 keeps routing weights beside the ids, NONE does not. */
  int32_t weights_dtype;
  /** A `rcap_weights_kind`, a label that travels with the records. */
  int32_t weights_kind;
  /** A `rcap_check_level`. */
  int32_t check_level;
  /** A `rcap_finalize_mode`. */
  int32_t finalize_mode;
  /** A `rcap_busy_policy`. */
  int32_t busy_policy;
  /** 1 keeps a caller's 64-bit tag with every row and compares it at the read, 0 does not. */
  int32_t tags;
  /** Staging blocks: forwards that may be unsettled at once, 1 .. 4096. @default 2 */
  int32_t pipeline_depth;
  /** Tokens of the largest prefill chunk of one rank; exactly one of this and `max_forward_tokens` is given. */
  int64_t chunked_prefill_size;
  /** Tokens of the largest forward of one rank where prefill is not chunked. */
  int64_t max_forward_tokens;
  /** Requests of one rank that may decode at once, >= 1. @default 1 */
  int64_t max_running_requests;
  /** Tokens a verify forward has per request (drafts + 1); 0 = no speculative decoding. */
  int64_t num_verify_tokens;
  /** Rows of the largest graph batch of one rank, padding included; 0 = no graphs. */
  int64_t max_graph_tokens;
  /** Data-parallel ranks that write into one device buffer, >= 1. @default 1 */
  int64_t dp_size;
  /** Attention tensor parallel size, >= 1: rows are rounded up to a multiple of it. @default 1 */
  int64_t attn_tp_size;
  /** KV slots of this rank, at most 2^40; 0 = it captures and stages, and does not store. */
  int64_t num_slots;
  /** Slots of one KV page, >= 1; `num_slots` is a multiple of it. Lets slots be named by page (`RCAP_UNIT_PAGE`). @default 1 */
  int64_t page_size;
  /** The first slots are the engine's padding or null block: rows for them are discarded by contract, they read as missing (R15). */
  int64_t reserved_slots;
  /** Longest wait of `RCAP_BUSY_WAIT` in nanoseconds, >= 0. */
  int64_t busy_timeout_ns;
};

/** What `rcap_capturer_config_init` writes, as an initializer. */
#define RCAP_CAPTURER_CONFIG_INIT {136, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 1, 0, 0, 1, 1, 0, 1, 0, 0}

/**
 * Sets a `rcap_capturer_config` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 12
 */
RCAP_API void rcap_capturer_config_init(rcap_capturer_config* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * What a capturer will need, before anything is allocated. Taps are not known yet: a capturer with PARTIAL ones keeps 8 bytes more per slot and staged
 * row for every 64 layers, and per layer and staging block. Rows whose weight version is not 0, and copied rows, use 16 bytes more per slot.
 *
 * @init_slot 13
 * @since 0.1
 */
struct rcap_capturer_plan {
  /** Bytes of this struct. */
  int64_t struct_size;
  /** Rows of the device buffer (R13). */
  int64_t device_rows;
  /** The `rcap_rows_term` that decided. */
  int32_t rows_term;
  /** The `rcap_dtype` of stored ids (R28). */
  int32_t ids_dtype;
  /** Captured layers L. */
  int32_t num_layers;
  /** Always 0. */
  int32_t reserved;
  /** Bytes on the device: cache of every layer and staging blocks. */
  int64_t device_bytes;
  /** Bytes of pinned host memory: the staging blocks' host side; a backend whose memory is the host's (`host`, `tbb`) takes none. */
  int64_t pinned_bytes;
  /** Bytes of ordinary address space for the slot store; pages are touched when slots are first used. */
  int64_t store_bytes;
  /** Bytes of ids of one slot: L * K * size of an id. */
  int64_t slot_ids_bytes;
  /** Bytes of one staged row: ids, weights and partial-layer bits, each padded to 8 bytes. */
  int64_t slot_payload_bytes;
  /** Bytes of one slot with everything kept beside the ids: stamp, padding, weights, tag, partial-layer bits. */
  int64_t slot_bytes;
};

/** What `rcap_capturer_plan_init` writes, as an initializer. */
#define RCAP_CAPTURER_PLAN_INIT {80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/**
 * Sets a `rcap_capturer_plan` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 13
 */
RCAP_API void rcap_capturer_plan_init(rcap_capturer_plan* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * How a tap's ids are to be read.
 *
 * @init_slot 14
 * @since 0.1
 */
struct rcap_tap_options {
  /** Bytes of this struct. */
  int64_t struct_size;
  /** Any of `rcap_tap_flag`. */
  int32_t flags;
  /** INT32 or INT64: dtype of the physical-to-logical map; NONE = ids are logical already. */
  int32_t id_map_dtype;
  /** A `rcap_memory`: where the map lives. */
  int32_t id_map_memory;
  /** Always 0. */
  int32_t reserved;
};

/** What `rcap_tap_options_init` writes, as an initializer. */
#define RCAP_TAP_OPTIONS_INIT {24, 0, 0, 0, 0}

/**
 * Sets a `rcap_tap_options` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 14
 */
RCAP_API void rcap_tap_options_init(rcap_tap_options* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * One batch of top-k ids: [tokens, columns], columns adjacent, rows `ids_row_stride` bytes apart.
 *
 * @init_slot 15
 * @since 0.1
 */
struct rcap_capture_layout {
  /** Bytes of this struct. */
  int64_t struct_size;
  /** INT64, INT32, INT16, UINT16 or UINT8. @default 4 */
  int32_t ids_dtype;
  /** dtype of the given weights: FLOAT32, or the dtype that the capturer keeps; read where weights are kept. */
  int32_t weights_dtype;
  /** A `rcap_memory`: where ids, weights and row_ids live. */
  int32_t memory;
  /** K, or K + num_fused_shared_experts. */
  int32_t columns;
  /** Rows handed over, >= 0. */
  int64_t tokens;
  /** Row of the device buffer that the first of them belongs to, >= 0. */
  int64_t first_row;
  /** Bytes between the starts of two rows of ids; 0 = columns * size of an id. Any alignment. */
  int64_t ids_row_stride;
  /** Bytes between the starts of two rows of weights; 0 = columns * size of a weight. Any alignment. */
  int64_t weights_row_stride;
};

/** What `rcap_capture_layout_init` writes, as an initializer. */
#define RCAP_CAPTURE_LAYOUT_INIT {56, 4, 0, 0, 0, 0, 0, 0, 0}

/**
 * Sets a `rcap_capture_layout` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 15
 */
RCAP_API void rcap_capture_layout_init(rcap_capture_layout* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * Counters of a capturer since its creation, and a few of its present state.
 *
 * @init_slot 16
 * @since 0.1
 */
struct rcap_capturer_stats {
  /** Bytes of this struct. */
  int64_t struct_size;
  /** Captures on taps of a denied model (R18). */
  int64_t suppressed;
  /** Forwards that were given a sequence number. */
  int64_t forwards;
  /** Forwards discarded by `rcap_capturer_discard_forward`. */
  int64_t discarded_forwards;
  /** `rcap_capturer_end_forward` calls answered BUSY. */
  int64_t busy;
  /** Outputs that settled OK or DEVICE. */
  int64_t finalized;
  /** Outputs destroyed unsettled while their capturer lived (R33). */
  int64_t dropped;
  /** Rows now or once in a slot. */
  int64_t rows_stored;
  /** Committed rows that were not stored because they were bad (R14). */
  int64_t rows_bad;
  /** Committed rows not stored because their slot had a newer number (R9, R10). */
  int64_t rows_outdated;
  /** Committed rows for reserved slots (R15). */
  int64_t rows_reserved;
  /** Rows of verify forwards that were not accepted (R21). */
  int64_t rows_rejected;
  /** Slots named in release calls. */
  int64_t slots_released;
  /** Pairs named in copy calls. */
  int64_t slots_copied;
  /** Pairs of copies that wait for a forward (R12). */
  int64_t copies_pending;
  /** Outputs unsettled now. */
  int64_t in_flight;
  /** The last number given to a forward, release or copy; 0 = none yet. */
  int64_t last_sequence;
  /** Entries of `row_ids` in DEVICE memory that named no row of the device buffer (R14). */
  int64_t rows_stray;
};

/** What `rcap_capturer_stats_init` writes, as an initializer. */
#define RCAP_CAPTURER_STATS_INIT {144, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/**
 * Sets a `rcap_capturer_stats` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 16
 */
RCAP_API void rcap_capturer_stats_init(rcap_capturer_stats* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * Computes what `rcap_capturer_create` would need, without allocating anything.
 *
 * @param config           geometry
 * @param layer_ids        the captured layers' numbers in the model, ascending, each once, >= 0
 * @param layer_ids_count  L, >= 1
 * @param plan             struct to fill, `struct_size` set
 * @return OK | INVALID_ARGUMENT | OUT_OF_RANGE | UNSUPPORTED; the text names field, value and limit
 * @thread any
 * @since 0.1
 * @slot 17
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_capturer_plan_get(const rcap_capturer_config* config, const int32_t* layer_ids, int64_t layer_ids_count,
                                                           rcap_capturer_plan* plan, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Creates a capturer. Next: add the models and their taps, then seal.
 *
 * @param config           geometry
 * @param layer_ids        as for `rcap_capturer_plan_get`
 * @param layer_ids_count  L, >= 1
 * @param backend          null = host
 * @param capturer         receives the handle; the caller destroys it
 * @return OK | INVALID_ARGUMENT | OUT_OF_RANGE | UNSUPPORTED | OUT_OF_MEMORY | FORKED (a backend opened by the parent process)
 * @owner capturer
 * @thread any
 * @since 0.1
 * @slot 18
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_capturer_create(const rcap_capturer_config* config, const int32_t* layer_ids, int64_t layer_ids_count,
                                                         rcap_backend* backend, rcap_capturer** capturer, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Destroys a capturer, its models and its taps. Outputs in flight are safe: they answer CLOSED from then on (R34). Records live on.
 * No other call on the capturer, its taps or outputs may be in progress. In a forked child it leaves everything as it is.
 *
 * @param self  null does nothing
 * @frees self
 * @thread handle
 * @since 0.1
 * @slot 19
 */
RCAP_API void rcap_capturer_destroy(rcap_capturer* self) RCAP_NOEXCEPT;

/**
 * Adds a model. Drafts start denied and stay so (R20); the target starts allowed.
 *
 * @param self   an unsealed capturer
 * @param role   a `rcap_model_role`; a second TARGET is refused
 * @param name   zero-terminated, used in error texts; copied
 * @param model  receives the handle, borrowed from the capturer
 * @return OK | INVALID_ARGUMENT | INVALID_STATE (sealed, second target) | OUT_OF_MEMORY | FORKED
 * @thread capturer
 * @since 0.1
 * @slot 20
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_capturer_add_model(rcap_capturer* self, int32_t role, const char* name, rcap_model** model,
                                                            rcap_error* err) RCAP_NOEXCEPT;

/**
 * Sets a model's gate, before seal. Denying the target makes the seal fail (R20).
 *
 * @param self  a model
 * @param gate  a `rcap_capture_gate`; allowing a draft is refused
 * @return OK | INVALID_ARGUMENT (null, unknown gate, draft allowed) | INVALID_STATE (sealed) | FORKED
 * @thread capturer
 * @since 0.1
 * @slot 21
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_model_set_capture(rcap_model* self, int32_t gate, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Adds the tap of one MoE layer. A draft's layer number may equal a target's: the tap, not the number, decides (R18).
 *
 * A physical-to-logical map (R22) is kept by address and read at every capture: it stays valid as long as the capturer, and the engine may
 * rewrite it between forwards. Entry p is the logical id of physical expert p.
 *
 * @param self          a model of an unsealed capturer
 * @param layer_number  layer in its model, >= 0; a target's must be one of the captured layers
 * @param options       null for the defaults
 * @param id_map        map, or null
 * @param id_map_bytes  bytes of the map, a whole number of entries
 * @param tap           receives the handle, borrowed from the capturer
 * @return OK | INVALID_ARGUMENT | INVALID_STATE (sealed, second tap on a layer) | OUT_OF_RANGE (a target's layer that is not captured) |
 *         UNSUPPORTED (unknown flag) | OUT_OF_MEMORY | FORKED
 * @retains id_map
 * @thread capturer
 * @since 0.1
 * @slot 22
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_model_add_tap(rcap_model* self, int32_t layer_number, const rcap_tap_options* options, const void* id_map,
                                                       int64_t id_map_bytes, rcap_tap** tap, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Ends the set-up. Fails closed (R20): no target, a denied target, a captured layer without a tap. After it nothing is loaded or added.
 *
 * Device cache, staging blocks and slot store are made here, when the taps are known: a geometry that was created may be OUT_OF_MEMORY now
 * (`rcap_capturer_plan_get` told how much it needs), and the call may be repeated.
 *
 * @param self  a capturer
 * @return OK | INVALID_ARGUMENT | INVALID_STATE (already sealed, or what is lacking) | UNSUPPORTED (the backend cannot keep such rows) |
 *         OUT_OF_MEMORY (the memory of the plan) | DEVICE | FORKED
 * @thread capturer
 * @since 0.1
 * @slot 23
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_capturer_seal(rcap_capturer* self, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Hands one layer's top-k ids (and weights) of some rows over: narrowed, mapped, counted, written to the device cache.
 *
 * Enqueued on `stream`; the host backend has done it when it returns. Allocates nothing, waits for nothing, may be recorded into a graph (with what lies
 * in DEVICE memory; a plugin may refuse HOST arrays as UNSUPPORTED). On a
 * denied tap nothing is looked at, nothing is written and the call is counted (R18). What does not fit the device buffer is refused before a
 * byte is written (R14). An id outside [0, E) marks its row, which is missing if it is ever committed.
 *
 * @param self           a tap of a sealed capturer
 * @param layout         shape
 * @param ids            [tokens, columns] of `ids_dtype`
 * @param ids_bytes      bytes readable at ids: at least (tokens - 1) * stride + columns * size
 * @param weights        [tokens, columns] of `weights_dtype`; required where weights are kept, else ignored (R29)
 * @param weights_bytes  bytes readable at weights
 * @param row_ids        PARTIAL taps only: given row i belongs to device row first_row + row_ids[i]; null = first_row + i. Below 0
 *                       or past the buffer's last row is out of range, a row named twice in one call is refused. In DEVICE memory
 *                       both are found when the forward settles: the entry is counted in `rcap_summary.rows_stray`, the row named twice is
 *                       missing with LAYER_REPEATED, and the others are stored (R14)
 * @param row_ids_count  `tokens`, or 0 with null
 * @param stream         backend's stream handle, null for its default stream
 * @return OK | INVALID_ARGUMENT | INVALID_STATE (not sealed) | OUT_OF_RANGE | UNSUPPORTED | DEVICE | FORKED
 * @capture ok
 * @thread any  on different taps of one capturer; one caller per tap
 * @since 0.1
 * @slot 24
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_tap_capture(rcap_tap* self, const rcap_capture_layout* layout, const void* ids, int64_t ids_bytes,
                                                     const void* weights, int64_t weights_bytes, const int32_t* row_ids, int64_t row_ids_count,
                                                     void* stream, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Whether captures on this tap are written: 1, or 0 when its model is denied.
 *
 * @param self  a tap
 * @return 1 | 0 | INVALID_ARGUMENT | FORKED
 * @capture ok
 * @thread any
 * @since 0.1
 * @slot 25
 */
RCAP_API int32_t rcap_tap_is_enabled(const rcap_tap* self, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Small stable number of a tap, for compiled graphs that cannot bake a pointer: taps of a capturer count from 0 in the order they were added.
 *
 * @param self  a tap
 * @return the id, >= 0 | INVALID_ARGUMENT | FORKED
 * @capture ok
 * @thread any
 * @since 0.1
 * @slot 26
 */
RCAP_API int32_t rcap_tap_id(const rcap_tap* self, rcap_error* err) RCAP_NOEXCEPT;

/**
 * The tap of a number.
 *
 * @param self    a capturer
 * @param tap_id  as `rcap_tap_id` gave it
 * @param tap     receives the handle, borrowed from the capturer
 * @return OK | INVALID_ARGUMENT | NOT_FOUND | FORKED
 * @capture ok
 * @thread any  after the seal; before it with the capturer's own thread only
 * @since 0.1
 * @slot 27
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_capturer_tap(rcap_capturer* self, int32_t tap_id, rcap_tap** tap, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Reads the counters.
 *
 * @param self   a capturer
 * @param stats  struct to fill, `struct_size` set
 * @return OK | INVALID_ARGUMENT | FORKED
 * @thread any
 * @since 0.1
 * @slot 28
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_capturer_stats_get(const rcap_capturer* self, rcap_capturer_stats* stats, rcap_error* err) RCAP_NOEXCEPT;

/* ---- forward ---- */

/**
 * Which rows of a forward are committed (R17, R21).
 *
 * @since 0.1
 */
enum rcap_acceptance_value {
  /** Every row; entry i is row i. `rows` is null. */
  RCAP_ACCEPT_ALL = 0,
  /** The rows that `rows` names, for example the accept index of a verify forward. */
  RCAP_ACCEPT_GIVEN = 1,
  /** Told once by `rcap_output_accept`, before finalize. */
  RCAP_ACCEPT_LATER = 2
};

/**
 * Why a committed row was not stored; where several apply to one row, the first of this list is named.
 *
 * @since 0.1
 */
enum rcap_fault_value {
  /** Nothing is wrong. */
  RCAP_FAULT_NONE = 0,
  /** A layer captured fewer rows than the forward has: every row of it is missing (R27). */
  RCAP_FAULT_LAYER_INCOMPLETE = 1,
  /** A layer captured a row more than once: every row of the forward is missing, or with a PARTIAL layer only the row it captured twice (R27). */
  RCAP_FAULT_LAYER_REPEATED = 2,
  /** A slot below -1 or past the last one, or with LATER one that is not among the slots given with the forward (R14). */
  RCAP_FAULT_SLOT_OUT_OF_RANGE = 3,
  /** A row below -1 or past the forward's last one (R14). */
  RCAP_FAULT_ROW_OUT_OF_RANGE = 4,
  /** A slot named twice: every entry that names it is bad (R15). */
  RCAP_FAULT_SLOT_REPEATED = 5,
  /** A row named twice: every slot involved is missing (R15). */
  RCAP_FAULT_ROW_REPEATED = 6,
  /** An id outside [0, E), or a physical id outside its map (R22). */
  RCAP_FAULT_ID_OUT_OF_RANGE = 7,
  /** An id twice in one layer of a row; only under CHECK_FULL (R25). */
  RCAP_FAULT_ID_REPEATED = 8
};

/**
 * What `rcap_capturer_end_forward` stages.
 *
 * Commit entry (g, j), g < groups, j < group_width: forward row rows[g * rows_group_stride + j] goes to slot
 * slots[g * slots_group_stride + j]; -1 in either means nothing. Rows count from the forward's first row. What stands between two groups is not read.
 * More entries than the device buffer has rows are refused, those with -1 included.
 *
 * @init_slot 29
 * @since 0.1
 */
struct rcap_forward_layout {
  /** Bytes of this struct. */
  int64_t struct_size;
  /** Row of the device buffer where this rank's rows begin (`rcap_layout_rows`). */
  int64_t first_row;
  /** This rank's rows, >= 0; 0 is an idle rank and legal (R16). */
  int64_t tokens;
  /** A `rcap_acceptance`. */
  int32_t acceptance;
  /** INT32 or INT64. @default 5 */
  int32_t slots_dtype;
  /** INT32 or INT64; read with GIVEN. @default 5 */
  int32_t rows_dtype;
  /** A `rcap_memory`. */
  int32_t slots_memory;
  /** A `rcap_memory`; read with GIVEN. */
  int32_t rows_memory;
  /** A `rcap_memory`; read where tags are kept. */
  int32_t tags_memory;
  /** Groups of entries; 0 = one. With ALL and LATER groups * group_width is `tokens`. */
  int64_t groups;
  /** Entries of a group; 0 = with one group `tokens` for ALL and LATER, all of `rows` for GIVEN. */
  int64_t group_width;
  /** Elements between the starts of two groups of slots; 0 = group_width. Smaller than group_width is refused where there are several groups. */
  int64_t slots_group_stride;
  /** The same for rows; read with GIVEN. */
  int64_t rows_group_stride;
  /** The engine's step number, a label only (R10). */
  int64_t step;
  /** Version of the model's weights in this forward; kept with every row. */
  int64_t weight_version;
};

/** What `rcap_forward_layout_init` writes, as an initializer. */
#define RCAP_FORWARD_LAYOUT_INIT {96, 0, 0, 0, 5, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/**
 * Sets a `rcap_forward_layout` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 29
 */
RCAP_API void rcap_forward_layout_init(rcap_forward_layout* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * What `rcap_output_accept` commits. Entries are as in `rcap_forward_layout`.
 *
 * @init_slot 30
 * @since 0.1
 */
struct rcap_accept_layout {
  /** Bytes of this struct. */
  int64_t struct_size;
  /** INT32 or INT64. @default 5 */
  int32_t slots_dtype;
  /** INT32 or INT64. @default 5 */
  int32_t rows_dtype;
  /** A `rcap_memory`. */
  int32_t slots_memory;
  /** A `rcap_memory`. */
  int32_t rows_memory;
  /** Groups of entries; 0 = one. */
  int64_t groups;
  /** Entries of a group; 0 = all of `rows`, with one group. */
  int64_t group_width;
  /** Elements between the starts of two groups of slots; 0 = group_width. */
  int64_t slots_group_stride;
  /** Elements between the starts of two groups of rows; 0 = group_width. */
  int64_t rows_group_stride;
};

/** What `rcap_accept_layout_init` writes, as an initializer. */
#define RCAP_ACCEPT_LAYOUT_INIT {56, 5, 5, 0, 0, 0, 0, 0, 0}

/**
 * Sets a `rcap_accept_layout` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 30
 */
RCAP_API void rcap_accept_layout_init(rcap_accept_layout* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * What became of a forward's rows. entries = rows_stored + rows_bad + rows_outdated + rows_reserved.
 *
 * @init_slot 31
 * @since 0.1
 */
struct rcap_summary {
  /** Bytes of this struct. */
  int64_t struct_size;
  /** The forward's number. */
  int64_t sequence;
  /** The label given with it. */
  int64_t step;
  /** Commit entries without -1. */
  int64_t entries;
  /** Entries whose row is now in its slot. */
  int64_t rows_stored;
  /** Entries refused; their slots, where they have one, settled as missing (R14). */
  int64_t rows_bad;
  /** Entries whose slot already had a newer number (R9, R10). */
  int64_t rows_outdated;
  /** Entries for reserved slots (R15). */
  int64_t rows_reserved;
  /** Rows of the forward that no entry names, with GIVEN and LATER (R21). */
  int64_t rows_rejected;
  /** The `rcap_fault` of the first bad entry, NONE if there is none. */
  int32_t first_bad_fault;
  /** Layer number in the model of the first bad entry's fault, -1 where no layer is to blame. */
  int32_t first_bad_layer;
  /** Forward row of the first bad entry as given, -1 without one. */
  int64_t first_bad_row;
  /** Slot of the first bad entry as given, -1 without one. */
  int64_t first_bad_slot;
  /** Layers that captured too few rows, or some row twice (R27). */
  int32_t layers_bad;
  /** Layer number of the first of them, -1 without one. */
  int32_t first_bad_layer_number;
  /** Rows of the forward that this layer captured. */
  int64_t layer_rows_captured;
  /** Rows that it should have captured: the forward's. */
  int64_t layer_rows_expected;
  /** Entries of `row_ids` in DEVICE memory that named no row of the device buffer, over all PARTIAL taps; told with any acceptance (R14). */
  int64_t rows_stray;
  /** Layer number of the first layer that was given one, -1 without one. */
  int32_t first_stray_layer;
  /** Always 0. */
  int32_t reserved;
};

/** What `rcap_summary_init` writes, as an initializer. */
#define RCAP_SUMMARY_INIT {136, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/**
 * Sets a `rcap_summary` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 31
 */
RCAP_API void rcap_summary_init(rcap_summary* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * Stages this rank's rows, gives the forward its sequence number and the device cache back to the next forward (R30).
 *
 * The snapshot is taken in stream order; the counters of captured rows start afresh. Whatever the host can know is checked before a byte moves and
 * refuses the whole call, which may then be repeated: no number is taken, nothing is counted, captures stay (R14, R32). With LATER the slots
 * are optional; given (one for every row), they are the only slots the forward may write, reads and copies of others need not wait for it,
 * and `rcap_output_accept` may name rows alone.
 *
 * @param self         a sealed capturer
 * @param layout       shape
 * @param slots        slot of every entry; null where `num_slots` is 0, with 0 tokens, or with LATER
 * @param slots_bytes  bytes readable at slots
 * @param rows         forward row of every entry, with GIVEN; else null
 * @param rows_bytes   bytes readable at rows
 * @param tags         where tags are kept: the tag of every row of the forward; else null
 * @param tags_count   `tokens`, or 0 with null
 * @param stream       backend's stream handle, null for its default stream
 * @param output       receives the handle; the caller destroys it
 * @return OK | BUSY | INVALID_ARGUMENT | INVALID_STATE (not sealed) | OUT_OF_RANGE | UNSUPPORTED | DEVICE | OUT_OF_MEMORY | FORKED
 * @owner output
 * @thread capturer
 * @since 0.1
 * @slot 32
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_capturer_end_forward(rcap_capturer* self, const rcap_forward_layout* layout, const void* slots,
                                                              int64_t slots_bytes, const void* rows, int64_t rows_bytes, const int64_t* tags,
                                                              int64_t tags_count, void* stream, rcap_output** output,
                                                              rcap_error* err) RCAP_NOEXCEPT;

/**
 * Forgets what was captured since the last `end_forward`: a warm-up, dummy or aborted forward (R27). Takes no number.
 *
 * @param self    a sealed capturer
 * @param stream  backend's stream handle, null for its default stream
 * @return OK | INVALID_ARGUMENT | INVALID_STATE | DEVICE | FORKED
 * @thread capturer
 * @since 0.1
 * @slot 33
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_capturer_discard_forward(rcap_capturer* self, void* stream, rcap_error* err) RCAP_NOEXCEPT;

/**
 * The number of a forward, > 0. Forwards, releases and copies of a capturer count together (R9).
 *
 * @param self  an output
 * @return the number | INVALID_ARGUMENT | CLOSED | FORKED
 * @thread any
 * @since 0.1
 * @slot 34
 */
RCAP_API int64_t rcap_output_sequence(const rcap_output* self, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Tells which rows of a LATER forward are committed; once, before finalize. A refused call may be repeated (R21). 0 entries commit nothing. Lists in
 * DEVICE memory are fetched in stream order, the call does not wait; finalize is NOT_READY until they are there. DEVICE here ends the output (R34).
 *
 * @param self         an output of a LATER forward
 * @param layout       shape
 * @param rows         forward row of every entry; null with 0 entries
 * @param rows_bytes   bytes readable at rows
 * @param slots        slot of every entry; null = each row's slot as given to `rcap_capturer_end_forward`
 * @param slots_bytes  bytes readable at slots
 * @param stream       backend's stream handle, null for its default stream
 * @return OK | INVALID_ARGUMENT | INVALID_STATE (not LATER, accepted already, settled) | OUT_OF_RANGE | UNSUPPORTED | DEVICE | CLOSED | FORKED
 * @thread handle
 * @since 0.1
 * @slot 35
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_output_accept(rcap_output* self, const rcap_accept_layout* layout, const void* rows, int64_t rows_bytes,
                                                       const void* slots, int64_t slots_bytes, void* stream, rcap_error* err) RCAP_NOEXCEPT;

/**
 * The staged rows on the device, token-major, for a collective where ranks hold parts: `rcap_capturer_plan.slot_payload_bytes` a row, which are
 * the ids padded to 8 bytes, the weights padded to 8 bytes, and 8 bytes of cell bits for every 64 layers where there are PARTIAL taps.
 * Valid until the output settles. With ALL and GIVEN, row i is commit entry i (holes are undefined bytes); with LATER, row i is forward row i.
 *
 * @param self   an output
 * @param data   receives a device pointer, borrowed from the output
 * @param bytes  receives its bytes
 * @return OK | INVALID_ARGUMENT | INVALID_STATE (settled) | CLOSED | FORKED
 * @thread handle
 * @since 0.1
 * @slot 36
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_output_device_rows(rcap_output* self, void** data, int64_t* bytes, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Starts the one copy of the staged block to the host. Ordered behind the staging whatever the stream. A second call does nothing.
 *
 * @param self    an output
 * @param stream  backend's stream handle, null for its default stream
 * @return OK | INVALID_ARGUMENT | DEVICE | CLOSED | FORKED
 * @thread handle
 * @since 0.1
 * @slot 37
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_output_copy_to_host(rcap_output* self, void* stream, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Whether the copy is complete; with OWN_THREAD, whether the output has settled. Never waits.
 *
 * @param self  an output
 * @return 1 | 0 | INVALID_ARGUMENT | DEVICE | CLOSED | FORKED
 * @thread handle
 * @since 0.1
 * @slot 38
 */
RCAP_API int32_t rcap_output_ready(rcap_output* self, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Waits until `rcap_output_ready` would say 1.
 *
 * @param self        an output
 * @param timeout_ns  longest wait in nanoseconds, >= 0
 * @return OK | TIMEOUT | INVALID_ARGUMENT | DEVICE | CLOSED | FORKED
 * @thread handle
 * @since 0.1
 * @slot 39
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_output_wait(rcap_output* self, int64_t timeout_ns, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Stores the committed rows and frees the block. Bad rows do not fail the call: they are missing and the summary names the first (R14). On a settled
 * output it gives the same answer again. With OWN_THREAD it only reads the summary.
 *
 * @param self     an output
 * @param summary  struct to fill, `struct_size` set; null = not wanted
 * @return OK | NOT_READY (`rcap_output_copy_to_host` not called or its copy not complete; a LATER forward not accepted; with OWN_THREAD, its
 *         thread not done) | INVALID_ARGUMENT | DEVICE | CLOSED | FORKED
 * @thread handle
 * @since 0.1
 * @slot 40
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_output_finalize(rcap_output* self, rcap_summary* summary, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Gives an output back. Unsettled, it is dropped (R33): its slots settle as missing at its number. With OWN_THREAD an accepted one is only detached
 * and still stored. A forward never accepted touches no slot.
 *
 * @param self  null does nothing
 * @frees self
 * @thread handle
 * @since 0.1
 * @slot 41
 */
RCAP_API void rcap_output_destroy(rcap_output* self) RCAP_NOEXCEPT;

/**
 * An eventfd that counts settled outputs, for poll and epoll; with OWN_THREAD only. Call it before the forwards whose completion matters. The
 * caller reads it to reset it (`rcap_capturer_next_completed` does not); the capturer owns and closes it.
 *
 * @param self  a sealed capturer
 * @param fd    receives the descriptor
 * @return OK | INVALID_ARGUMENT | INVALID_STATE (caller finalizes, not sealed) | OUT_OF_MEMORY (no descriptor left) | FORKED
 * @thread any
 * @since 0.1
 * @slot 42
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_capturer_completion_fd(rcap_capturer* self, int32_t* fd, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Takes the next settled output's number, in the order in which they settled; with OWN_THREAD only. Completions are kept from the first call of this
 * function or of `rcap_capturer_completion_fd` on, so call one of them before the forwards that matter (a timeout of 0 will do).
 *
 * @param self        a sealed capturer
 * @param timeout_ns  longest wait in nanoseconds, >= 0
 * @param sequence    receives the forward's number
 * @param status      receives what its finalize says: OK or DEVICE
 * @return OK | TIMEOUT | INVALID_ARGUMENT | INVALID_STATE (caller finalizes, not sealed) | FORKED
 * @thread any
 * @since 0.1
 * @slot 43
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_capturer_next_completed(rcap_capturer* self, int64_t timeout_ns, int64_t* sequence, int32_t* status,
                                                                 rcap_error* err) RCAP_NOEXCEPT;

/* ---- slots ---- */

/**
 * How slots are named.
 *
 * @since 0.1
 */
enum rcap_slot_unit_value {
  /** Each number is a slot. */
  RCAP_UNIT_SLOT = 0,
  /** Each number is a page: the slots page * page_size .. page * page_size + page_size - 1, in this order. */
  RCAP_UNIT_PAGE = 1
};

/**
 * A list of slots for `rcap_capturer_release_slots` and `rcap_capturer_copy_slots`.
 *
 * @init_slot 44
 * @since 0.1
 */
struct rcap_slots_layout {
  /** Bytes of this struct. */
  int64_t struct_size;
  /** INT32 or INT64. @default 5 */
  int32_t slots_dtype;
  /** A `rcap_memory`. A bad entry refuses the call wherever the list lives: the host backend reads DEVICE lists at the call, too. */
  int32_t memory;
  /** A `rcap_slot_unit`. */
  int32_t unit;
  /** Always 0. */
  int32_t reserved;
};

/** What `rcap_slots_layout_init` writes, as an initializer. */
#define RCAP_SLOTS_LAYOUT_INIT {24, 5, 0, 0, 0}

/**
 * Sets a `rcap_slots_layout` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 44
 */
RCAP_API void rcap_slots_layout_init(rcap_slots_layout* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * State of one slot.
 *
 * @init_slot 45
 * @since 0.1
 */
struct rcap_slot_info {
  /** Bytes of this struct. */
  int64_t struct_size;
  /** Number of the forward, release or copy that decided what the slot shows; 0 = never touched. */
  int64_t sequence;
  /** Number of the forward that captured the row (R12: a copied row keeps its age); 0 when missing. */
  int64_t row_sequence;
  /** Weight version of the row; 0 when missing. */
  int64_t weight_version;
  /** Tag of the row where tags are kept; 0 when missing. */
  int64_t tag;
  /** 1 if the slot holds a row, else 0. */
  int32_t valid;
  /** 1 if the slot is reserved, else 0. */
  int32_t reserved_slot;
};

/** What `rcap_slot_info_init` writes, as an initializer. */
#define RCAP_SLOT_INFO_INIT {48, 0, 0, 0, 0, 0, 0}

/**
 * Sets a `rcap_slot_info` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 45
 */
RCAP_API void rcap_slot_info_init(rcap_slot_info* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * Makes slots read as missing until they are written again (R8). Applied at the call, in call order; forwards numbered before it never leave a row there
 * (R9). Needed only before a slot could be read again without a new write. Releasing twice, or a reserved slot, is harmless. A slot keeps the number of
 * its release, so that releasing slots that were never used touches their pages of the store; `rcap_capturer_release_all` touches none.
 *
 * @param self         a sealed capturer
 * @param layout       shape
 * @param slots        slots or pages, each in range: -1 is not, and then nothing is applied
 * @param slots_bytes  bytes of the list, a whole number of elements
 * @param stream       backend's stream handle, null for its default stream. A list in DEVICE memory is fetched first: the call waits until the stream
 *                     has come to it (the host backend reads it at once)
 * @return OK | INVALID_ARGUMENT | INVALID_STATE (not sealed) | OUT_OF_RANGE | UNSUPPORTED | DEVICE | OUT_OF_MEMORY | FORKED
 * @thread capturer
 * @since 0.1
 * @slot 46
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_capturer_release_slots(rcap_capturer* self, const rcap_slots_layout* layout, const void* slots,
                                                                int64_t slots_bytes, void* stream, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Releases every slot, in constant time.
 *
 * @param self    a sealed capturer
 * @param stream  backend's stream handle, null for its default stream
 * @return OK | INVALID_ARGUMENT | INVALID_STATE (not sealed) | FORKED
 * @thread capturer
 * @since 0.1
 * @slot 47
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_capturer_release_all(rcap_capturer* self, void* stream, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Copies rows from slots to other slots, as if all at once; sources stay. A move is a copy and a release (R12).
 *
 * Rows of forwards numbered before the copy and finalized after it go along: until those are done the target is NOT_READY. A missing source makes its
 * target missing. A source may repeat, a target may not.
 *
 * @param self        a sealed capturer
 * @param layout      shape of both lists
 * @param from        sources, each in range; a reserved one reads as missing
 * @param from_bytes  bytes of the list
 * @param to          targets, each in range, none twice; a reserved one is left alone
 * @param to_bytes    the same number of elements
 * @param stream      as for `rcap_capturer_release_slots`
 * @return OK | INVALID_ARGUMENT | INVALID_STATE (not sealed) | OUT_OF_RANGE | UNSUPPORTED | DEVICE | OUT_OF_MEMORY | FORKED
 * @thread capturer
 * @since 0.1
 * @slot 48
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_capturer_copy_slots(rcap_capturer* self, const rcap_slots_layout* layout, const void* from,
                                                             int64_t from_bytes, const void* to, int64_t to_bytes, void* stream,
                                                             rcap_error* err) RCAP_NOEXCEPT;

/**
 * State of one slot.
 *
 * @param self  a sealed capturer
 * @param slot  0 .. num_slots - 1
 * @param info  struct to fill, `struct_size` set
 * @return OK | NOT_READY (target of a copy that waits for a forward) | INVALID_ARGUMENT | INVALID_STATE (not sealed) | OUT_OF_RANGE | FORKED
 * @thread any
 * @since 0.1
 * @slot 49
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_capturer_slot_info_get(const rcap_capturer* self, int64_t slot, rcap_slot_info* info,
                                                                rcap_error* err) RCAP_NOEXCEPT;

/* ---- read ---- */

/**
 * Options of a read.
 *
 * @flags
 * @since 0.1
 */
enum rcap_read_flag_value {
  /** Also the last token's row, if its slot is given and valid at the read; else the answer has n-1 rows and the call succeeds (R2). */
  RCAP_READ_INCLUDE_LAST = 1
};

/**
 * Which rows of a request are wanted.
 *
 * @init_slot 50
 * @since 0.1
 */
struct rcap_read_layout {
  /** Bytes of this struct. */
  int64_t struct_size;
  /** INT32 or INT64. @default 5 */
  int32_t slots_dtype;
  /** A `rcap_slot_unit`; with PAGE, token i stands in page i / page_size of the list. */
  int32_t unit;
  /** Any of `rcap_read_flag`. */
  int32_t flags;
  /** Always 0. */
  int32_t reserved;
  /** n: tokens of the request, prompt and generated, >= 0. Rows 0 .. n-2 exist (R1). */
  int64_t tokens;
  /** First token wanted, 0 .. n (R3). */
  int64_t start;
  /** Number of the request's last forward: the read waits for it and for earlier ones that may change these slots (R36); 0 = none. */
  int64_t after_sequence;
  /** Longest wait in nanoseconds, >= 0; 0 = answer at once. */
  int64_t timeout_ns;
};

/** What `rcap_read_layout_init` writes, as an initializer. */
#define RCAP_READ_LAYOUT_INIT {56, 5, 0, 0, 0, 0, 0, 0, 0}

/**
 * Sets a `rcap_read_layout` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 50
 */
RCAP_API void rcap_read_layout_init(rcap_read_layout* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * Geometry of what was read.
 *
 * @init_slot 51
 * @since 0.1
 */
struct rcap_read_info {
  /** Bytes of this struct. */
  int64_t struct_size;
  /** Token position of the first row. */
  int64_t start;
  /** Rows. */
  int64_t rows;
  /** Rows whose validity bit is set. */
  int64_t rows_valid;
  /** Captured layers L. */
  int32_t num_layers;
  /** Experts per token and layer K. */
  int32_t top_k;
  /** `rcap_dtype` of the ids. */
  int32_t ids_dtype;
  /** `rcap_dtype` of the weights, or NONE. */
  int32_t weights_dtype;
  /** Bytes of ids [rows, L, K]. */
  int64_t ids_bytes;
  /** Bytes of weights [rows, L, K]. */
  int64_t weights_bytes;
  /** Bytes of the row bitmap: ceil(rows / 8). */
  int64_t row_validity_bytes;
  /** Bytes of the cell bitmap: ceil(rows * L / 8) where the capturer has PARTIAL taps, else 0. */
  int64_t cell_validity_bytes;
  /** Smallest weight version of the valid rows; 0 without any. */
  int64_t weight_version_min;
  /** Largest weight version of the valid rows; 0 without any. */
  int64_t weight_version_max;
};

/** What `rcap_read_info_init` writes, as an initializer. */
#define RCAP_READ_INFO_INIT {96, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/**
 * Sets a `rcap_read_info` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 51
 */
RCAP_API void rcap_read_info_init(rcap_read_info* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * Reads a request's rows by its slots into a new record.
 *
 * Rows nobody captured are missing: validity bit clear, bytes 0xFF, never zeros and never a previous tenant's (R7). A read never finalizes; what it
 * must wait for is NOT_READY after `timeout_ns`, with the lacking sequence in `rcap_error.detail` (R36). An `after_sequence` above the last number
 * given is OUT_OF_RANGE at once, whatever the timeout.
 *
 * @param self         a sealed capturer
 * @param layout       range
 * @param slots        slot of token 0 .. n-2, and of token n-1 if wanted; -1 reads as missing (R3); with PAGE, the request's pages. Host memory
 * @param slots_bytes  bytes of the list, a whole number of elements
 * @param tags         where tags are kept: the tag each token's row must have, as many as tokens have slots here; null = do not compare (R8)
 * @param tags_count   elements of tags
 * @param record       receives the handle; the caller destroys it
 * @return OK | NOT_READY | INVALID_ARGUMENT | INVALID_STATE (not sealed) | OUT_OF_RANGE | UNSUPPORTED | OUT_OF_MEMORY | FORKED
 * @owner record
 * @thread any
 * @since 0.1
 * @slot 52
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_capturer_read(const rcap_capturer* self, const rcap_read_layout* layout, const void* slots,
                                                       int64_t slots_bytes, const int64_t* tags, int64_t tags_count, rcap_record** record,
                                                       rcap_error* err) RCAP_NOEXCEPT;

/**
 * As `rcap_capturer_read`, into the caller's memory and without allocating.
 *
 * With every buffer null and every size 0 it only fills `info` with what is needed (with INCLUDE_LAST for the last row too). Buffers may be larger than
 * needed; what lies behind is left alone. Too small is OUT_OF_RANGE: `info` has the needs, nothing else was written.
 *
 * @param self            a sealed capturer
 * @param layout          range
 * @param slots           as for `rcap_capturer_read`
 * @param slots_bytes     bytes of the list
 * @param tags            as for `rcap_capturer_read`
 * @param tags_count      elements of tags
 * @param ids             receives [rows, L, K]; needed unless every buffer is left out
 * @param ids_bytes       capacity
 * @param weights         receives [rows, L, K] where weights are kept; null = not wanted
 * @param weights_bytes   capacity
 * @param validity        receives the row bitmap, bit i of byte i/8 from the lowest; behind it, where there are PARTIAL taps, the cell bitmap (bit
 *                        row * L + column); null = not wanted
 * @param validity_bytes  capacity
 * @param info            struct to fill, `struct_size` set; null = not wanted
 * @return as `rcap_capturer_read`
 * @thread any
 * @since 0.1
 * @slot 53
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_capturer_read_into(const rcap_capturer* self, const rcap_read_layout* layout, const void* slots,
                                                            int64_t slots_bytes, const int64_t* tags, int64_t tags_count, void* ids,
                                                            int64_t ids_bytes, void* weights, int64_t weights_bytes, void* validity,
                                                            int64_t validity_bytes, rcap_read_info* info, rcap_error* err) RCAP_NOEXCEPT;

/* ---- record ---- */

/**
 * Geometry for `rcap_record_create`.
 *
 * @init_slot 54
 * @since 0.1
 */
struct rcap_record_layout {
  /** Bytes of this struct. */
  int64_t struct_size;
  /** Token position of the first row, >= 0. */
  int64_t start;
  /** Rows, >= 0. */
  int64_t rows;
  /** E: ids lie in [0, E). */
  int32_t num_experts;
  /** K, 1 .. E. */
  int32_t top_k;
  /** FLOAT16, BFLOAT16, FLOAT32, or NONE. The id dtype follows from E (R28). */
  int32_t weights_dtype;
  /** A `rcap_weights_kind`. */
  int32_t weights_kind;
  /** Weight version of all rows. */
  int64_t weight_version;
};

/** What `rcap_record_layout_init` writes, as an initializer. */
#define RCAP_RECORD_LAYOUT_INIT {48, 0, 0, 0, 0, 0, 0, 0}

/**
 * Sets a `rcap_record_layout` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 54
 */
RCAP_API void rcap_record_layout_init(rcap_record_layout* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * Geometry of a record.
 *
 * @init_slot 55
 * @since 0.1
 */
struct rcap_record_info {
  /** Bytes of this struct. */
  int64_t struct_size;
  /** Token position of the first row. */
  int64_t start;
  /** Rows. */
  int64_t rows;
  /** Rows whose validity bit is set. */
  int64_t rows_valid;
  /** Layers L. */
  int32_t num_layers;
  /** Experts per token and layer K. */
  int32_t top_k;
  /** Logical routed experts E. */
  int32_t num_experts;
  /** `rcap_dtype` of the ids. */
  int32_t ids_dtype;
  /** `rcap_dtype` of the weights, or NONE. */
  int32_t weights_dtype;
  /** A `rcap_weights_kind`. */
  int32_t weights_kind;
  /** 1 if cells have a validity of their own (a column is PARTIAL, or a valid row lacks a cell), else 0. */
  int32_t has_cell_validity;
  /** Always 0. */
  int32_t reserved;
  /** Runs of rows with one weight version. */
  int64_t version_spans;
};

/** What `rcap_record_info_init` writes, as an initializer. */
#define RCAP_RECORD_INFO_INIT {72, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/**
 * Sets a `rcap_record_info` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 55
 */
RCAP_API void rcap_record_info_init(rcap_record_info* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * Makes a record from the caller's arrays; they are copied. A row without a valid cell is missing, unless every column is PARTIAL.
 *
 * @param layout             geometry
 * @param layer_ids          model layer number of every column, ascending, each once
 * @param layer_ids_count    L, >= 1
 * @param layer_flags        `rcap_tap_flag`s of every column; null = none. PARTIAL anywhere means that cells have a validity of their own
 * @param layer_flags_count  L, or 0 with null
 * @param ids                [rows, L, K] of the dtype that E gives
 * @param ids_bytes          exactly rows * L * K * size
 * @param weights            [rows, L, K] of `weights_dtype`, or null
 * @param weights_bytes      exactly that many bytes
 * @param validity           row bitmap, then the cell bitmap where a column is PARTIAL; null = all valid
 * @param validity_bytes     exactly their bytes
 * @param record             receives the handle; the caller destroys it
 * @return OK | INVALID_ARGUMENT | OUT_OF_RANGE (an id outside [0, E) in a valid cell, named by row and layer) | UNSUPPORTED | OUT_OF_MEMORY
 * @owner record
 * @thread any
 * @since 0.1
 * @slot 56
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_record_create(const rcap_record_layout* layout, const int32_t* layer_ids, int64_t layer_ids_count,
                                                       const int32_t* layer_flags, int64_t layer_flags_count, const void* ids, int64_t ids_bytes,
                                                       const void* weights, int64_t weights_bytes, const void* validity, int64_t validity_bytes,
                                                       rcap_record** record, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Gives a record back. Everything borrowed from it ends.
 *
 * @param self  null does nothing
 * @frees self
 * @thread handle
 * @since 0.1
 * @slot 57
 */
RCAP_API void rcap_record_destroy(rcap_record* self) RCAP_NOEXCEPT;

/**
 * Geometry of a record.
 *
 * @param self  a record
 * @param info  struct to fill, `struct_size` set
 * @return OK | INVALID_ARGUMENT
 * @thread any
 * @since 0.1
 * @slot 58
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_record_info_get(const rcap_record* self, rcap_record_info* info, rcap_error* err) RCAP_NOEXCEPT;

/**
 * The ids [rows, L, K], row-major, of `ids_dtype`. Cells that are not valid are 0xFF in every byte.
 *
 * @param self   a record
 * @param data   receives a pointer borrowed from the record, 8-byte aligned; never null
 * @param bytes  receives its bytes
 * @return OK | INVALID_ARGUMENT
 * @thread any
 * @since 0.1
 * @slot 59
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_record_ids(const rcap_record* self, const void** data, int64_t* bytes, rcap_error* err) RCAP_NOEXCEPT;

/**
 * The weights [rows, L, K] of `weights_dtype`; 0 bytes where none are kept.
 *
 * @param self   a record
 * @param data   receives a pointer borrowed from the record, 8-byte aligned; never null
 * @param bytes  receives its bytes
 * @return OK | INVALID_ARGUMENT
 * @thread any
 * @since 0.1
 * @slot 60
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_record_weights(const rcap_record* self, const void** data, int64_t* bytes, rcap_error* err) RCAP_NOEXCEPT;

/**
 * The row bitmap: bit i of byte i/8, counted from the lowest, is 1 if row i was captured (R7).
 *
 * @param self   a record
 * @param data   receives a pointer borrowed from the record; never null
 * @param bytes  receives ceil(rows / 8)
 * @return OK | INVALID_ARGUMENT
 * @thread any
 * @since 0.1
 * @slot 61
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_record_row_validity(const rcap_record* self, const void** data, int64_t* bytes,
                                                             rcap_error* err) RCAP_NOEXCEPT;

/**
 * The cell bitmap: bit row * L + column. 0 bytes where no column is PARTIAL and valid rows are valid in every column. Cells of an invalid row are 0.
 *
 * @param self   a record
 * @param data   receives a pointer borrowed from the record; never null
 * @param bytes  receives ceil(rows * L / 8), or 0
 * @return OK | INVALID_ARGUMENT
 * @thread any
 * @since 0.1
 * @slot 62
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_record_cell_validity(const rcap_record* self, const void** data, int64_t* bytes,
                                                              rcap_error* err) RCAP_NOEXCEPT;

/**
 * Model layer number of every column (R26).
 *
 * @param self   a record
 * @param data   receives a pointer borrowed from the record
 * @param count  receives L
 * @return OK | INVALID_ARGUMENT
 * @thread any
 * @since 0.1
 * @slot 63
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_record_layer_ids(const rcap_record* self, const int32_t** data, int64_t* count,
                                                          rcap_error* err) RCAP_NOEXCEPT;

/**
 * `rcap_tap_flag`s of every column (R24, R26).
 *
 * @param self   a record
 * @param data   receives a pointer borrowed from the record
 * @param count  receives L
 * @return OK | INVALID_ARGUMENT
 * @thread any
 * @since 0.1
 * @slot 64
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_record_layer_flags(const rcap_record* self, const int32_t** data, int64_t* count,
                                                            rcap_error* err) RCAP_NOEXCEPT;

/**
 * Runs of rows with one weight version, as two parallel arrays: token position of the first row of each run, ascending, and its version. A run ends
 * where the next begins; missing rows belong to the run before them, leading ones to the first. A record without a valid row has no run.
 *
 * @param self      a record
 * @param starts    receives a pointer borrowed from the record
 * @param versions  receives a pointer borrowed from the record
 * @param count     receives the number of runs
 * @return OK | INVALID_ARGUMENT
 * @thread any
 * @since 0.1
 * @slot 65
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_record_version_spans(const rcap_record* self, const int64_t** starts, const int64_t** versions,
                                                              int64_t* count, rcap_error* err) RCAP_NOEXCEPT;

/**
 * A new record of the token positions [start, end): byte for byte what a read from `start` would have given (R3, R4).
 *
 * @param self    a record
 * @param start   first position, the record's start .. end
 * @param end     position behind the last, start .. the record's start + rows
 * @param record  receives the handle; the caller destroys it
 * @return OK | INVALID_ARGUMENT | OUT_OF_RANGE | OUT_OF_MEMORY
 * @owner record
 * @thread any
 * @since 0.1
 * @slot 66
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_record_slice(const rcap_record* self, int64_t start, int64_t end, rcap_record** record,
                                                      rcap_error* err) RCAP_NOEXCEPT;

/* ---- record_algebra ---- */

/**
 * What happens where two records hold the same token position (R39).
 *
 * @since 0.1
 */
enum rcap_overlap_value {
  /** An overlap is an error that names both ranges. */
  RCAP_OVERLAP_REFUSE = 0,
  /** The first record's rows stay, missing ones too: its KV was kept. */
  RCAP_OVERLAP_KEEP_OLD = 1,
  /** The second record's rows replace them, missing ones too: the KV was recomputed. */
  RCAP_OVERLAP_KEEP_NEW = 2
};

/**
 * How a full-axis view fills the columns of layers that were not captured (R26).
 *
 * @since 0.1
 */
enum rcap_fill_value {
  /** As missing cells: bit clear, bytes 0xFF. The columns are marked PARTIAL. */
  RCAP_FILL_MISSING = 0,
  /** With one id K times and weights of 0, valid in valid rows. */
  RCAP_FILL_VALUE = 1
};

/**
 * Where two records differ.
 *
 * @init_slot 67
 * @since 0.1
 */
struct rcap_compare_report {
  /** Bytes of this struct. */
  int64_t struct_size;
  /** 1 if geometry, layer map, flags, validity, ids, weights and version spans are all the same, else 0. */
  int32_t equal;
  /** 1 if E, K, L, layer map, dtypes and kinds are the same: only then rows are compared. */
  int32_t same_shape;
  /** First token position that both hold; without one the later start. */
  int64_t start;
  /** Token positions that both hold. */
  int64_t rows;
  /** Positions that only the first holds. */
  int64_t rows_only_first;
  /** Positions that only the second holds. */
  int64_t rows_only_second;
  /** Cells (row and layer) valid in both. */
  int64_t cells;
  /** Cells valid in the first alone. */
  int64_t cells_only_first;
  /** Cells valid in the second alone. */
  int64_t cells_only_second;
  /** Cells valid in both whose ids differ, order counted. */
  int64_t cells_differ;
  /** Of these, cells whose ids differ also when their order is left out. */
  int64_t cells_differ_as_sets;
  /** Cells valid in both whose weights differ, bit by bit. */
  int64_t cells_differ_in_weights;
  /** Rows with a different weight version, both valid. */
  int64_t rows_differ_in_version;
  /** Token position of the first cell that differs in ids or validity, -1 without one. */
  int64_t first_row;
  /** Its layer number in the model, -1 without one. */
  int32_t first_layer;
  /** Always 0. */
  int32_t reserved;
};

/** What `rcap_compare_report_init` writes, as an initializer. */
#define RCAP_COMPARE_REPORT_INIT {120, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/**
 * Sets a `rcap_compare_report` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 67
 */
RCAP_API void rcap_compare_report_init(rcap_compare_report* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * A new record of this one's rows and then another's (R5, R39).
 *
 * `next` starts inside this record or right behind it; a gap, and anything else than the same E, K, layers, flags, dtypes and kinds, is refused, naming
 * both. Where both hold a position, `overlap` decides. Positions behind the end of one come from the other.
 *
 * @param self     first record
 * @param next     second record
 * @param overlap  a `rcap_overlap`
 * @param record   receives the handle; the caller destroys it
 * @return OK | INVALID_ARGUMENT (null, unknown overlap, another shape) | OUT_OF_RANGE (gap, refused overlap, start before this record's) | OUT_OF_MEMORY
 * @owner record
 * @thread any
 * @since 0.1
 * @slot 68
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_record_append(const rcap_record* self, const rcap_record* next, int32_t overlap, rcap_record** record,
                                                       rcap_error* err) RCAP_NOEXCEPT;

/**
 * A new record of a request served by a prefill and a decode engine: positions below `boundary` from this record, the others from `decode` (R40).
 *
 * @param self      record of the prefill side; holds every position up to the boundary
 * @param decode    record of the decode side; starts at the boundary or before it and reaches it; its rows before it are not looked at
 * @param boundary  first position that is the decode side's, usually the number of prompt tokens
 * @param record    receives the handle; the caller destroys it
 * @return OK | INVALID_ARGUMENT (null, another shape) | OUT_OF_RANGE (a side does not reach the boundary) | OUT_OF_MEMORY
 * @owner record
 * @thread any
 * @since 0.1
 * @slot 69
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_record_merge(const rcap_record* self, const rcap_record* decode, int64_t boundary, rcap_record** record,
                                                      rcap_error* err) RCAP_NOEXCEPT;

/**
 * A new record for a request cut to fewer tokens: positions below tokens - 1, with INCLUDE_LAST below tokens (R4). Longer than the record changes nothing.
 *
 * @param self    a record
 * @param tokens  tokens that are left, >= 0
 * @param flags   any of `rcap_read_flag`
 * @param record  receives the handle; the caller destroys it
 * @return OK | INVALID_ARGUMENT | OUT_OF_RANGE | UNSUPPORTED (unknown flag) | OUT_OF_MEMORY
 * @owner record
 * @thread any
 * @since 0.1
 * @slot 70
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_record_truncate(const rcap_record* self, int64_t tokens, int32_t flags, rcap_record** record,
                                                         rcap_error* err) RCAP_NOEXCEPT;

/**
 * A new record of the same tokens with the layers of two: stages of a pipeline (R44). More than two stages are stacked one after the other. Where a row
 * is valid in one alone, it is valid with the cells of that one, and the result has cell validity.
 *
 * @param self    layers of one stage
 * @param other   layers of another; a layer that both have is refused, as are other positions, E, K, dtypes, kinds or weight versions of a row
 * @param record  receives the handle; the caller destroys it
 * @return OK | INVALID_ARGUMENT (null, another shape, a shared layer) | OUT_OF_RANGE (other positions) | OUT_OF_MEMORY
 * @owner record
 * @thread any
 * @since 0.1
 * @slot 71
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_record_stack(const rcap_record* self, const rcap_record* other, rcap_record** record,
                                                      rcap_error* err) RCAP_NOEXCEPT;

/**
 * A new record of token positions that context parallelism dealt out to two ranks (R45). More than two are interleaved one after the other.
 *
 * The result reaches from the lowest to the highest position named, which may span 1024 times the rows of both records and 65536; a position that nobody
 * named is missing. A record that is itself the
 * result of an interleave gives its positions as the range from its start, and its missing rows give way to the other's.
 *
 * @param self                   rows of one rank
 * @param positions              token position of each of them, ascending or not, each once; null = start, start + 1, ...
 * @param positions_count        the record's rows, or 0 with null
 * @param other                  rows of another rank, of the same shape
 * @param other_positions        token position of each of them; null = start, start + 1, ...
 * @param other_positions_count  the other record's rows, or 0 with null
 * @param record                 receives the handle; the caller destroys it
 * @return OK | INVALID_ARGUMENT (null, another shape, a position twice among valid rows) | OUT_OF_RANGE (a negative position, a
 *         span too wide for the rows) | OUT_OF_MEMORY
 * @owner record
 * @thread any
 * @since 0.1
 * @slot 72
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_record_interleave(const rcap_record* self, const int64_t* positions, int64_t positions_count,
                                                           const rcap_record* other, const int64_t* other_positions, int64_t other_positions_count,
                                                           rcap_record** record, rcap_error* err) RCAP_NOEXCEPT;

/**
 * A new record with a column for every layer 0 .. num_layers - 1 of the model (R26). `rcap_record_to_compact` takes it back, losslessly.
 *
 * @param self        a record
 * @param num_layers  layers of the model, above the highest captured one and at most 65536
 * @param fill        a `rcap_fill` for the layers that were not captured
 * @param fill_id     the id that VALUE puts there, 0 .. E - 1
 * @param record      receives the handle; the caller destroys it
 * @return OK | INVALID_ARGUMENT (null, unknown fill) | OUT_OF_RANGE (num_layers, fill_id) | OUT_OF_MEMORY
 * @owner record
 * @thread any
 * @since 0.1
 * @slot 73
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_record_to_full_axis(const rcap_record* self, int32_t num_layers, int32_t fill, int32_t fill_id,
                                                             rcap_record** record, rcap_error* err) RCAP_NOEXCEPT;

/**
 * A new record with some of this one's layers alone. A row without a valid cell in them is missing, unless all of them are PARTIAL.
 *
 * @param self             a record
 * @param layer_ids        layers to keep, ascending, each one of the record's
 * @param layer_ids_count  how many, >= 1
 * @param record           receives the handle; the caller destroys it
 * @return OK | INVALID_ARGUMENT (null, unsorted) | OUT_OF_RANGE (a layer that the record does not have) | OUT_OF_MEMORY
 * @owner record
 * @thread any
 * @since 0.1
 * @slot 74
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_record_to_compact(const rcap_record* self, const int32_t* layer_ids, int64_t layer_ids_count,
                                                           rcap_record** record, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Compares two records on the positions that both hold.
 *
 * @param self            first record
 * @param other           second record
 * @param report          struct to fill, `struct_size` set
 * @param by_layer        receives, for each column, the cells that differ in ids; null = not wanted
 * @param by_layer_count  capacity: the first record's layers, or 0 with null; filled only where the shapes are the same
 * @return OK (also where they differ) | INVALID_ARGUMENT | OUT_OF_RANGE (by_layer_count)
 * @thread any
 * @since 0.1
 * @slot 75
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_record_compare(const rcap_record* self, const rcap_record* other, rcap_compare_report* report,
                                                        int64_t* by_layer, int64_t by_layer_count, rcap_error* err) RCAP_NOEXCEPT;

/* ---- trainer ---- */

/**
 * What stands where a trainer needs ids and the engine captured none: missing rows, the last token of a sequence, padding (R42).
 *
 * @since 0.1
 */
enum rcap_padding_value {
  /**
   * K distinct ids, spread over the experts: the n-th filled row of a layer gets (n + floor(j * E / K)) modulo E in column j. Of one row's ids any two
   * equal blocks of neighbouring experts (expert-parallel ranks) get the same number, and of any rows' ids any two experts do, give or take one.
   */
  RCAP_PADDING_SPREAD = 0,
  /** `fill_value` in every column, for trainers that look at the mask instead, or for which -1 means missing. */
  RCAP_PADDING_VALUE = 1
};

/**
 * Order of the axes of a dense array of ids.
 *
 * @since 0.1
 */
enum rcap_axis_order_value {
  /** [tokens, layers, K]. */
  RCAP_AXIS_ORDER_TOKENS_FIRST = 0,
  /** [layers, tokens, K]: what one router needs is one piece. */
  RCAP_AXIS_ORDER_LAYERS_FIRST = 1
};

/**
 * How context parallelism deals out the tokens of a sequence (R43).
 *
 * @since 0.1
 */
enum rcap_split_value {
  /** cp_size equal chunks; rank r has chunk r. */
  RCAP_SPLIT_CONTIGUOUS = 0,
  /** 2 * cp_size equal chunks; rank r has chunk r and behind it chunk 2 * cp_size - 1 - r. One rank alone has the sequence as it is. */
  RCAP_SPLIT_ZIGZAG = 1
};

/**
 * What `rcap_record_fill` writes.
 *
 * @init_slot 85
 * @since 0.1
 */
struct rcap_fill_layout {
  /** Bytes of this struct. */
  int64_t struct_size;
  /** Token position of the first row to write, >= 0; 0 where positions are given. */
  int64_t start;
  /** Rows to write, >= 0; those behind the sequence are padding. */
  int64_t tokens;
  /** Tokens of the sequence, the last one included: n of R1. The record may not reach behind it. */
  int64_t length;
  /**
   * Number of the first filled row in the formula of SPREAD, >= 0: what earlier calls for the same batch filled, so that they do not load the same
   * experts.
   */
  int64_t first_fill;
  /** dtype of the ids: INT64, what gathering scores by them needs (R43), or INT32, INT16, UINT16, UINT8. @default 5 */
  int32_t dtype;
  /** A `rcap_axis_order`. */
  int32_t order;
  /** A `rcap_padding`. */
  int32_t padding;
  /** The value of RCAP_PADDING_VALUE; any that the dtype holds. */
  int32_t fill_value;
};

/** What `rcap_fill_layout_init` writes, as an initializer. */
#define RCAP_FILL_LAYOUT_INIT {56, 0, 0, 0, 0, 5, 0, 0, 0}

/**
 * Sets a `rcap_fill_layout` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 85
 */
RCAP_API void rcap_fill_layout_init(rcap_fill_layout* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * How a pack of sequences is dealt out: every sequence over context parallelism, and each rank's tokens, one after the other, over sequence
 * parallelism in equal contiguous slices (R43).
 *
 * @init_slot 86
 * @since 0.1
 */
struct rcap_partition_layout {
  /** Bytes of this struct. */
  int64_t struct_size;
  /** A `rcap_split`. */
  int32_t split;
  /** Context-parallel ranks, >= 1. @default 1 */
  int32_t cp_size;
  /** This rank, 0 .. cp_size - 1. */
  int32_t cp_rank;
  /** Sequence-parallel (tensor-parallel) ranks, >= 1. @default 1 */
  int32_t sp_size;
  /** This rank, 0 .. sp_size - 1. */
  int32_t sp_rank;
  /** Always 0. */
  int32_t reserved;
};

/** What `rcap_partition_layout_init` writes, as an initializer. */
#define RCAP_PARTITION_LAYOUT_INIT {32, 0, 1, 0, 1, 0, 0}

/**
 * Sets a `rcap_partition_layout` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 86
 */
RCAP_API void rcap_partition_layout_init(rcap_partition_layout* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * Writes a record's ids as a trainer replays them: dense, in the dtype and for the layers it asks for, every row filled (R42).
 *
 * A row is a token position. Where the record has no valid ids for it and a layer, where it lies behind the sequence, or where it is -1, `padding`
 * says what is written, and the masks say 0. Filled rows are counted for each layer by itself, in the order of the rows. Nothing is written where the
 * call is refused.
 *
 * Sequences of a pack are filled one call each, into their part of the arrays. A sequence that has no record is filled from a record of 0 rows.
 *
 * @param self             rows of one sequence; may begin behind 0 and may lack the last token, or more
 * @param layout           what to write
 * @param layer_ids        model layer numbers of the columns to write, in this order, each once, each one of the record's; null = all of the record's
 * @param layer_ids_count  how many, >= 1, or 0 with null
 * @param positions        token position of every row, in any order; -1 = padding; null = start, start + 1, ...
 * @param positions_count  `layout.tokens`, or 0 with null
 * @param ids              receives tokens * layers * K ids in `layout.order`; null with 0 bytes
 * @param ids_bytes        exactly their bytes
 * @param row_mask         receives a byte for every row: 1 where the ids of all these layers are the engine's, else 0; null = not wanted
 * @param row_mask_bytes   `layout.tokens`, or 0 with null
 * @param cell_mask        receives a byte for every row and layer, in `layout.order`; null = not wanted
 * @param cell_mask_bytes  tokens * layers, or 0 with null
 * @param filled           receives the rows with a byte of 0 in their masks; null = not wanted
 * @return OK | INVALID_ARGUMENT (null, unknown enum value, a layer twice, bytes that do not fit) | OUT_OF_RANGE (a layer that the record does not
 *         have, a record that reaches behind the sequence, ids or fill_value that the dtype cannot hold, a position below -1, an overflowing size) |
 *         UNSUPPORTED (a field that is not used here and not 0) | OUT_OF_MEMORY
 * @thread any
 * @since 0.1
 * @slot 87
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_record_fill(const rcap_record* self, const rcap_fill_layout* layout, const int32_t* layer_ids,
                                                     int64_t layer_ids_count, const int64_t* positions, int64_t positions_count, void* ids,
                                                     int64_t ids_bytes, void* row_mask, int64_t row_mask_bytes, void* cell_mask,
                                                     int64_t cell_mask_bytes, int64_t* filled, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Where each sequence of a pack begins when each is padded to a multiple: a trainer's `cu_seqlens`.
 *
 * @param lengths        tokens of every sequence, each >= 0; null with 0
 * @param lengths_count  sequences, >= 0
 * @param multiple       >= 1; `rcap_partition_multiple` gives what a partition needs
 * @param offsets        receives 0, the first length rounded up, ... and last the pack's tokens
 * @param offsets_count  lengths_count + 1
 * @return OK | INVALID_ARGUMENT (null, offsets_count) | OUT_OF_RANGE (a negative length, a multiple below 1, an overflowing sum)
 * @thread any
 * @since 0.1
 * @slot 88
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_pack_offsets(const int64_t* lengths, int64_t lengths_count, int64_t multiple, int64_t* offsets,
                                                      int64_t offsets_count, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Copies sequences that stand one behind the other to their places in a pack and writes padding behind each. `rcap_pack_strip` is the inverse.
 *
 * Works on anything that has an item for every token: ids, masks, weights, rows of routes. Arrays may not overlap.
 *
 * @param lengths        tokens of every sequence, each >= 0; null with 0
 * @param lengths_count  sequences, >= 0
 * @param offsets        where each begins in the pack, 0 first, and last the pack's tokens; each sequence has room for its length
 * @param offsets_count  lengths_count + 1
 * @param item_bytes     bytes of an item, >= 1
 * @param pad            one item of padding; null = zero bytes
 * @param pad_bytes      item_bytes, or 0 with null
 * @param tokens         items of all sequences without padding; null with 0 bytes
 * @param tokens_bytes   exactly their bytes
 * @param packed         receives the pack's items; null with 0 bytes
 * @param packed_bytes   exactly their bytes
 * @return OK | INVALID_ARGUMENT (null, counts or bytes that do not fit) | OUT_OF_RANGE (a length or offset outside its range, item_bytes, an
 *         overflowing size)
 * @thread any
 * @since 0.1
 * @slot 89
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_pack_pad(const int64_t* lengths, int64_t lengths_count, const int64_t* offsets, int64_t offsets_count,
                                                  int64_t item_bytes, const void* pad, int64_t pad_bytes, const void* tokens, int64_t tokens_bytes,
                                                  void* packed, int64_t packed_bytes, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Copies the sequences out of a pack, one behind the other, without their padding: the inverse of `rcap_pack_pad`. Arrays may not overlap.
 *
 * @param lengths        as for `rcap_pack_pad`
 * @param lengths_count  sequences, >= 0
 * @param offsets        as for `rcap_pack_pad`
 * @param offsets_count  lengths_count + 1
 * @param item_bytes     bytes of an item, >= 1
 * @param packed         the pack's items; null with 0 bytes
 * @param packed_bytes   exactly their bytes
 * @param tokens         receives the items of all sequences; null with 0 bytes
 * @param tokens_bytes   exactly their bytes
 * @return OK | INVALID_ARGUMENT | OUT_OF_RANGE
 * @thread any
 * @since 0.1
 * @slot 90
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_pack_strip(const int64_t* lengths, int64_t lengths_count, const int64_t* offsets, int64_t offsets_count,
                                                    int64_t item_bytes, const void* packed, int64_t packed_bytes, void* tokens, int64_t tokens_bytes,
                                                    rcap_error* err) RCAP_NOEXCEPT;

/**
 * The number that every padded sequence must be a multiple of: cp_size chunks (2 * cp_size where they are dealt out in a zigzag among several ranks)
 * times sp_size.
 *
 * @param layout    sizes; its ranks are not looked at
 * @param multiple  receives the number
 * @return OK | INVALID_ARGUMENT (null, unknown split) | OUT_OF_RANGE (a size below 1, an overflowing product)
 * @thread any
 * @since 0.1
 * @slot 91
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_partition_multiple(const rcap_partition_layout* layout, int64_t* multiple, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Tokens of a rank: the same for all.
 *
 * @param layout         sizes and this rank
 * @param offsets        where each sequence begins in the pack, 0 first, and last the pack's tokens
 * @param offsets_count  sequences + 1
 * @param tokens         receives the number
 * @return OK | INVALID_ARGUMENT (null, unknown split) | OUT_OF_RANGE (a size, rank or offset outside its range, a sequence that its chunks do not
 *         divide, named with the multiple it needs, a rank's tokens that sp_size does not divide)
 * @thread any
 * @since 0.1
 * @slot 92
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_partition_tokens(const rcap_partition_layout* layout, const int64_t* offsets, int64_t offsets_count,
                                                          int64_t* tokens, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Where in the pack each of a rank's tokens stands, in the rank's order: what indexing an array by it gives is the rank's part (R43).
 *
 * @param layout         sizes and this rank
 * @param offsets        as for `rcap_partition_tokens`
 * @param offsets_count  sequences + 1
 * @param indices        receives the indices; null with 0
 * @param indices_count  exactly what `rcap_partition_tokens` says
 * @return OK | as `rcap_partition_tokens`
 * @thread any
 * @since 0.1
 * @slot 93
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_partition_indices(const rcap_partition_layout* layout, const int64_t* offsets, int64_t offsets_count,
                                                           int64_t* indices, int64_t indices_count, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Copies a rank's part out of a pack. Works on anything that has an item for every token. Arrays may not overlap.
 *
 * @param layout         sizes and this rank
 * @param offsets        as for `rcap_partition_tokens`
 * @param offsets_count  sequences + 1
 * @param item_bytes     bytes of an item, >= 1
 * @param whole          the pack's items; null with 0 bytes
 * @param whole_bytes    exactly their bytes
 * @param part           receives the rank's items; null with 0 bytes
 * @param part_bytes     exactly their bytes
 * @return OK | as `rcap_partition_tokens`
 * @thread any
 * @since 0.1
 * @slot 94
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_partition_split(const rcap_partition_layout* layout, const int64_t* offsets, int64_t offsets_count,
                                                         int64_t item_bytes, const void* whole, int64_t whole_bytes, void* part, int64_t part_bytes,
                                                         rcap_error* err) RCAP_NOEXCEPT;

/**
 * Puts the parts of all ranks together again: the inverse of `rcap_partition_split` (R43). Arrays may not overlap.
 *
 * @param layout         sizes; its ranks are not looked at
 * @param offsets        as for `rcap_partition_tokens`
 * @param offsets_count  sequences + 1
 * @param item_bytes     bytes of an item, >= 1
 * @param parts          [cp_size, sp_size, tokens of a rank] items, as all-gathers over both give them; null with 0 bytes
 * @param parts_bytes    exactly their bytes
 * @param whole          receives the pack's items; null with 0 bytes
 * @param whole_bytes    exactly as many bytes
 * @return OK | as `rcap_partition_tokens`
 * @thread any
 * @since 0.1
 * @slot 95
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_partition_gather(const rcap_partition_layout* layout, const int64_t* offsets, int64_t offsets_count,
                                                          int64_t item_bytes, const void* parts, int64_t parts_bytes, void* whole,
                                                          int64_t whole_bytes, rcap_error* err) RCAP_NOEXCEPT;

/**
 * The MoE layers of a pipeline stage, in the order in which it makes their routers (R43).
 *
 * The model's layers are dealt out in vp_size rounds; in each, stage after stage takes its share, which is the same for all but a first or last stage
 * whose layers are given. A model that is dealt out otherwise has its lists at hand and needs no help.
 *
 * @param num_layers        layers of the model, dense ones too, >= 1
 * @param pp_size           pipeline stages, >= 1
 * @param pp_rank           this stage, 0 .. pp_size - 1
 * @param vp_size           virtual stages (model chunks) of each stage, >= 1
 * @param vp_rank           this chunk, 0 .. vp_size - 1; -1 = all chunks of the stage
 * @param first_layers      layers of the first stage over all its chunks; 0 = as many as the others have
 * @param last_layers       the same for the last stage
 * @param moe_layers        layer numbers of the model's MoE layers, ascending, each 0 .. num_layers - 1; null with 0
 * @param moe_layers_count  how many, >= 0
 * @param layer_ids         receives those of the stage, ascending; null with 0
 * @param layer_ids_count   capacity
 * @param needed            receives how many there are
 * @return OK (also with null) | INVALID_ARGUMENT (null, not ascending) | OUT_OF_RANGE (a size, rank or layer outside its range, layers that the
 *         stages or chunks do not divide, capacity: `needed` is set)
 * @thread any
 * @since 0.1
 * @slot 96
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_stage_layers(int32_t num_layers, int32_t pp_size, int32_t pp_rank, int32_t vp_size, int32_t vp_rank,
                                                      int32_t first_layers, int32_t last_layers, const int32_t* moe_layers, int64_t moe_layers_count,
                                                      int32_t* layer_ids, int64_t layer_ids_count, int64_t* needed, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Copies some layers' columns out of an array [tokens, layers] of items: those of a pipeline stage, or of one router (R43). Arrays may not overlap.
 *
 * @param layer_ids        model layer number of every column of `whole`, each once
 * @param layer_ids_count  how many, >= 1
 * @param selected         layer numbers of the columns wanted, in this order, each once, each one of `layer_ids`; null with 0
 * @param selected_count   how many, >= 0
 * @param tokens           rows, >= 0
 * @param item_bytes       bytes of an item (K ids), >= 1
 * @param order            a `rcap_axis_order` for `part`
 * @param whole            [tokens, layers] items; null with 0 bytes
 * @param whole_bytes      exactly their bytes
 * @param part             receives the items of the columns in `order`; null with 0 bytes
 * @param part_bytes       exactly their bytes
 * @return OK | INVALID_ARGUMENT (null, unknown order, a layer twice, bytes that do not fit) | OUT_OF_RANGE (a layer that is not there, tokens,
 *         item_bytes, an overflowing size) | OUT_OF_MEMORY
 * @thread any
 * @since 0.1
 * @slot 97
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_layers_split(const int32_t* layer_ids, int64_t layer_ids_count, const int32_t* selected,
                                                      int64_t selected_count, int64_t tokens, int64_t item_bytes, int32_t order, const void* whole,
                                                      int64_t whole_bytes, void* part, int64_t part_bytes, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Copies some layers' columns to their places in an array [tokens, layers] of items and leaves the others alone: called for every stage, it is the
 * inverse of `rcap_layers_split`. Arrays may not overlap.
 *
 * @param layer_ids        as for `rcap_layers_split`
 * @param layer_ids_count  how many, >= 1
 * @param selected         as for `rcap_layers_split`
 * @param selected_count   how many, >= 0
 * @param tokens           rows, >= 0
 * @param item_bytes       bytes of an item (K ids), >= 1
 * @param order            a `rcap_axis_order` for `part`
 * @param part             items of the columns in `order`; null with 0 bytes
 * @param part_bytes       exactly their bytes
 * @param whole            [tokens, layers] items, of which the columns are written; null with 0 bytes
 * @param whole_bytes      exactly their bytes
 * @return OK | as `rcap_layers_split`
 * @thread any
 * @since 0.1
 * @slot 98
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_layers_gather(const int32_t* layer_ids, int64_t layer_ids_count, const int32_t* selected,
                                                       int64_t selected_count, int64_t tokens, int64_t item_bytes, int32_t order, const void* part,
                                                       int64_t part_bytes, void* whole, int64_t whole_bytes, rcap_error* err) RCAP_NOEXCEPT;

/* ---- wire ---- */

/**
 * Forms of a record outside the library (R37, R41). `rcap_wire_format_name` and `rcap_wire_format_of` know their names.
 *
 * @since 0.1
 */
enum rcap_wire_format_value {
  /** `frame`: the library's own binary form, self-describing, checked; frames may stand one behind the other. */
  RCAP_WIRE_FRAME = 1,
  /** `frame-base64`: the same as text. */
  RCAP_WIRE_FRAME_BASE64 = 2,
  /** `sglang`: base64 of a flat little-endian array [rows, layers, K], int32 unless another dtype is asked for, without any header. */
  RCAP_WIRE_SGLANG = 3,
  /** `vllm`: base64 of a `.npy` [rows, layers, K]. */
  RCAP_WIRE_VLLM = 4,
  /** `npy`: the `.npy` alone. */
  RCAP_WIRE_NPY = 5,
  /** `prime`: JSON object with data (base64), shape, start, dtype. */
  RCAP_WIRE_PRIME = 6,
  /** `nemo`: `nrlre1:<dtype>:<S>x<L>x<K>:<base64>`, narrowest signed dtype, a row of -1 is missing. */
  RCAP_WIRE_NEMO = 7,
  /** `lists`: nested JSON lists [rows][layers][K]. */
  RCAP_WIRE_LISTS = 8,
  /** `csv`: a moe-trace CSV, one line per row, layer and column. */
  RCAP_WIRE_CSV = 9
};

/**
 * What an encoder does with a missing cell where the form cannot say so.
 *
 * @since 0.1
 */
enum rcap_missing_value {
  /** Refuses the record, naming the first missing row. */
  RCAP_MISSING_REFUSE = 0,
  /** Writes -1; only into a signed dtype. */
  RCAP_MISSING_MINUS_ONE = 1,
  /** Writes fill_id, fill_id + 1, ... modulo E into the K columns. */
  RCAP_MISSING_FILL = 2
};

/**
 * Options of an encoder. What a form has no use for must stay as `rcap_encode_options_init` leaves it.
 *
 * @init_slot 76
 * @since 0.1
 */
struct rcap_encode_options {
  /** Bytes of this struct. */
  int64_t struct_size;
  /** dtype of ids in `sglang` (INT32, UINT8, UINT16), `vllm` and `npy` (UINT8, UINT16, INT16, INT32, INT64); NONE = the form's own choice. */
  int32_t dtype;
  /** A `rcap_missing`. */
  int32_t missing;
  /** First id of RCAP_MISSING_FILL, 0 .. E - 1. */
  int32_t fill_id;
  /** Zstandard level of a frame's parts, 1 .. 19; 0 = stored as they are. */
  int32_t zstd_level;
  /** `csv`: value of the turn column. */
  int64_t turn;
  /** `csv`: first token position of the decode phase; rows before it are phase 0 (prefill), the others 1. Negative = all prefill. @default -1 */
  int64_t decode_start;
};

/** What `rcap_encode_options_init` writes, as an initializer. */
#define RCAP_ENCODE_OPTIONS_INIT {40, 0, 0, 0, 0, 0, -1}

/**
 * Sets a `rcap_encode_options` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 76
 */
RCAP_API void rcap_encode_options_init(rcap_encode_options* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * What a decoder is told where the bytes do not say it. A fact that the bytes carry may be left out; given, it must agree.
 *
 * @init_slot 77
 * @since 0.1
 */
struct rcap_decode_hints {
  /** Bytes of this struct. */
  int64_t struct_size;
  /** Token position of the first row; -1 = not given. @default -1 */
  int64_t start;
  /** Rows; -1 = not given. @default -1 */
  int64_t rows;
  /** Logical routed experts E; 0 = not given. */
  int32_t num_experts;
  /** K; 0 = not given. */
  int32_t top_k;
  /** Layers of the layer axis, numbered from 0; 0 = not given, or given by `layer_ids`. */
  int32_t num_layers;
  /** dtype of the flat array; NONE = the form's default (`sglang`: INT32). */
  int32_t dtype;
  /** `csv`: which turn to read; -1 = the only one. @default -1 */
  int64_t turn;
};

/** What `rcap_decode_hints_init` writes, as an initializer. */
#define RCAP_DECODE_HINTS_INIT {48, -1, -1, 0, 0, 0, 0, -1}

/**
 * Sets a `rcap_decode_hints` to its defaults.
 *
 * Writes `struct_size` bytes, never more: of a smaller struct the first fields, of a larger one zeros behind the fields that the library knows.
 * Null, or a size below 8, writes nothing.
 *
 * @param value        struct to set
 * @param struct_size  bytes of the caller's struct; becomes its `struct_size`
 * @thread any
 * @since 0.1
 * @slot 77
 */
RCAP_API void rcap_decode_hints_init(rcap_decode_hints* value, int64_t struct_size) RCAP_NOEXCEPT;

/**
 * Name of a format, for example `frame-base64`. Static, never freed.
 *
 * @param format  any number
 * @return the name; `unknown` for a number that is no format
 * @thread any
 * @since 0.1
 * @slot 78
 */
RCAP_API const char* rcap_wire_format_name(int32_t format) RCAP_NOEXCEPT;

/**
 * The format of a name.
 *
 * @param name    zero-terminated, as `rcap_wire_format_name` gives it
 * @param format  receives the `rcap_wire_format`
 * @return OK | INVALID_ARGUMENT (null) | NOT_FOUND (the text lists the names)
 * @thread any
 * @since 0.1
 * @slot 79
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_wire_format_of(const char* name, int32_t* format, rcap_error* err) RCAP_NOEXCEPT;

/**
 * The format that bytes are in, told by their content alone, where that is possible (frame, frame-base64, npy, vllm, prime, nemo, lists, csv).
 *
 * @param bytes        any bytes
 * @param bytes_bytes  how many, >= 0
 * @param format       receives the `rcap_wire_format`
 * @return OK | INVALID_ARGUMENT | NOT_FOUND (nothing recognizes them; `sglang` has no mark)
 * @thread any
 * @since 0.1
 * @slot 80
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_wire_detect(const void* bytes, int64_t bytes_bytes, int32_t* format, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Writes a record in a form. With null and capacity 0 it answers OK and gives the size in `needed`.
 *
 * A form that cannot hold something of the record (holes, weights, layer map) loses it, except holes, which `options.missing` decides.
 *
 * @param self           a record
 * @param format         a `rcap_wire_format`
 * @param options        null for the defaults
 * @param buffer         receives the bytes, not zero-terminated; null with capacity 0
 * @param buffer_bytes   capacity
 * @param needed         receives the bytes written, or needed
 * @return OK | INVALID_ARGUMENT | OUT_OF_RANGE (capacity, `needed` is set; an id that does not fit the dtype; a missing row where they are refused) |
 *         UNSUPPORTED (an option that the form has no use for, -1 in an unsigned dtype) | OUT_OF_MEMORY
 * @thread any
 * @since 0.1
 * @slot 81
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_record_encode(const rcap_record* self, int32_t format, const rcap_encode_options* options, void* buffer,
                                                       int64_t buffer_bytes, int64_t* needed, rcap_error* err) RCAP_NOEXCEPT;

/**
 * Reads a record from a form.
 *
 * Never guesses: a fact that is neither in the bytes nor in the hints is INVALID_ARGUMENT and the text names the hint. Behind the record nothing may
 * follow, but for frames: `consumed` tells where the next begins.
 *
 * The record takes at most 64 times the bytes given and 1 MiB, and a compressed part of a frame at most 256 times its bytes, whatever a header promises;
 * more is OUT_OF_RANGE or CORRUPT. A `csv` of another writer that is nearly all holes may need more: with the hints `rows`, `top_k` and `num_layers` (or
 * `layer_ids`) the caller names the size, and the first bound does not apply.
 *
 * @param format           a `rcap_wire_format`
 * @param bytes            the form
 * @param bytes_bytes      how many
 * @param hints            null for none
 * @param layer_ids        layer number of every column where the bytes do not carry it, ascending; null = 0 .. layers - 1
 * @param layer_ids_count  how many, or 0 with null
 * @param record           receives the handle; the caller destroys it
 * @param consumed         receives the bytes read; null = not wanted
 * @return OK | INVALID_ARGUMENT (null, unknown format, a missing or contradicting hint) | CORRUPT (what is wrong, and at which byte) |
 *         VERSION_MISMATCH (a frame of a newer version) | UNSUPPORTED | OUT_OF_RANGE | OUT_OF_MEMORY
 * @owner record
 * @thread any
 * @since 0.1
 * @slot 82
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_record_decode(int32_t format, const void* bytes, int64_t bytes_bytes, const rcap_decode_hints* hints,
                                                       const int32_t* layer_ids, int64_t layer_ids_count, rcap_record** record, int64_t* consumed,
                                                       rcap_error* err) RCAP_NOEXCEPT;

/**
 * Reads a request's rows by its slots and writes them in a form, in one pass and without a record between.
 *
 * @param self          a sealed capturer
 * @param layout        range, as for `rcap_capturer_read`
 * @param slots         as for `rcap_capturer_read`
 * @param slots_bytes   bytes of the list
 * @param tags          as for `rcap_capturer_read`
 * @param tags_count    elements of tags
 * @param format        a `rcap_wire_format`
 * @param options       null for the defaults
 * @param buffer        receives the bytes; null with capacity 0
 * @param buffer_bytes  capacity
 * @param needed        receives the bytes written, or an upper bound of what is needed where the capacity is too small
 * @return as `rcap_capturer_read` and `rcap_record_encode`: OK | NOT_READY | INVALID_ARGUMENT | INVALID_STATE | OUT_OF_RANGE | UNSUPPORTED |
 *         OUT_OF_MEMORY | FORKED
 * @thread any
 * @since 0.1
 * @slot 83
 */
RCAP_NODISCARD RCAP_API rcap_status rcap_capturer_encode(const rcap_capturer* self, const rcap_read_layout* layout, const void* slots,
                                                         int64_t slots_bytes, const int64_t* tags, int64_t tags_count, int32_t format,
                                                         const rcap_encode_options* options, void* buffer, int64_t buffer_bytes, int64_t* needed,
                                                         rcap_error* err) RCAP_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
