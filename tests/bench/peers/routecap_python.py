# SPDX-License-Identifier: Apache-2.0
"""routecap's stages, called from Python through ctypes: what a Python engine pays for each call on top of what the C program is charged."""

import ctypes
from ctypes import addressof, byref, c_int64, c_void_p, sizeof

import numpy as np

import c_api
from checks import MOST_SETS, same
from timing import Stage

NAME = "routecap-python"
INT32, UINT8 = 4, 1
SGLANG = 3
ROLE_TARGET = 0


class Subject:
    def __init__(self, folder, data, batches):
        library, description = folder
        self.data, self.workload = data, data.workload
        self.api = c_api.Api(library, description)
        self.call = self.api.library
        self.error = self.api.make("rcap_error")
        self.error_at = addressof(self.error)
        self.create(max(batches))
        self.capture_layout = self.api.make("rcap_capture_layout")
        self.capture_layout.ids_dtype, self.capture_layout.columns = INT32, self.workload.top_k
        self.forward_layout = self.api.make("rcap_forward_layout")
        self.read_layout = self.api.make("rcap_read_layout")
        self.read_info = self.api.make("rcap_read_info")
        self.options = self.api.make("rcap_encode_options")
        self.options.dtype = UINT8
        self.output = c_void_p()

    def must(self, status):
        if status != 0:
            raise SystemExit(f"peers: routecap from Python: {self.error.text.decode()}")

    def create(self, most_tokens):
        config = self.api.make("rcap_capturer_config")
        config.num_experts, config.top_k = self.workload.experts, self.workload.top_k
        config.chunked_prefill_size, config.num_slots = most_tokens, self.workload.slots
        layers = np.arange(self.workload.captured, dtype=np.int32)
        capturer, target = c_void_p(), c_void_p()
        self.must(self.call.rcap_capturer_create(addressof(config), layers.ctypes.data, len(layers), None, byref(capturer), self.error_at))
        self.capturer = capturer.value
        self.must(self.call.rcap_capturer_add_model(self.capturer, ROLE_TARGET, b"target", byref(target), self.error_at))
        self.taps = []
        for layer in layers.tolist():
            tap = c_void_p()
            self.must(self.call.rcap_model_add_tap(target, layer, None, None, 0, byref(tap), self.error_at))
            self.taps.append(tap.value)
        self.must(self.call.rcap_capturer_seal(self.capturer, self.error_at))

    def set_threads(self, threads):
        if threads != 1:
            raise SystemExit("peers: the Python column is of one thread")

    def facts(self):
        return []

    def info(self):
        return {"library": self.call.rcap_version_string().decode(), "by": "ctypes"}

    def stages(self, n):
        ids = self.data.layer_ids(n)
        layout, bytes_of_layer = addressof(self.capture_layout), n * self.workload.top_k * 4
        arguments = list(zip(self.taps, (layer.ctypes.data for layer in ids)))
        take = self.call.rcap_tap_capture
        error = self.error_at
        row = self.workload.captured * self.workload.top_k
        read_ids = np.empty(n * row, np.uint8)
        validity = np.empty((n + 7) // 8, np.uint8)
        text = ctypes.create_string_buffer(n * row * 2 + 4096)
        needed = c_int64()
        self.capture_layout.tokens = self.forward_layout.tokens = n
        self.read_layout.tokens = n + 1

        def capture(_, keep=ids):
            for tap, address in arguments:
                if take(tap, layout, address, bytes_of_layer, None, 0, None, 0, None, error):
                    self.must(-1)

        def discard(_):
            self.must(self.call.rcap_capturer_discard_forward(self.capturer, None, error))

        def settle():
            # An output that is dropped would leave its slots without a row (R33).
            if self.output:
                copy()
                finalize(0)
            self.call.rcap_output_destroy(self.output)
            self.output = c_void_p()

        def end_forward(slots):
            self.must(
                self.call.rcap_capturer_end_forward(
                    self.capturer, addressof(self.forward_layout), slots, n * 8, None, 0, None, 0, None, byref(self.output), error
                )
            )

        def finalize(_):
            self.must(self.call.rcap_output_finalize(self.output, None, error))

        def copy():
            self.must(self.call.rcap_output_copy_to_host(self.output, None, error))

        def read(slots):
            self.must(
                self.call.rcap_capturer_read_into(
                    self.capturer, addressof(self.read_layout), slots, n * 8, None, 0, read_ids.ctypes.data, read_ids.nbytes, None, 0,
                    validity.ctypes.data, validity.nbytes, addressof(self.read_info), error,
                )
            )  # fmt: skip

        def readback(slots):
            self.must(
                self.call.rcap_capturer_encode(
                    self.capturer, addressof(self.read_layout), slots, n * 8, None, 0, SGLANG, addressof(self.options), text, sizeof(text),
                    byref(needed), error,
                )
            )  # fmt: skip

        def commit(slots):
            end_forward(slots)
            copy()
            finalize(0)
            settle()

        def captured(call):
            settle()
            discard(call)
            capture(call)

        made = [Stage("capture", capture, prepare=lambda call: (settle(), discard(call)))]
        for kind in ("random", "sequential"):
            order = np.ascontiguousarray(self.data.order(kind))
            sets = max(1, min(self.workload.slots // n, MOST_SETS))

            def at(call, over, order=order):
                return order.ctypes.data + call % over * n * 8

            for call in range(sets):
                capture(call)
                commit(at(call, sets))
            for call in {0, sets // 2, sets - 1}:
                read(at(call, sets))
                same(read_ids.reshape(n, self.workload.captured, -1), self.data.rows_of_routecap(n), f"rows read from Python of {n} tokens")
            readback(at(0, sets))
            if text.raw[: needed.value] != self.data.text_of_routecap(n, "uint8") and kind == "random":
                raise SystemExit(f"peers: the wire text of {n} tokens from Python differs; nothing was timed")
            if kind == "random":
                made.append(Stage("end_forward", lambda call, s=sets, a=at: end_forward(a(call, s)), prepare=captured))
            for reach in ("walked", "reused"):
                over = sets if reach == "walked" else 1

                def ended(call, a=at, o=over):
                    captured(call)
                    end_forward(a(call, o))
                    copy()

                def step(call, a=at, o=over):
                    capture(call)
                    commit(a(call, o))

                made.append(Stage("finalize", finalize, kind, reach, prepare=ended))
                made.append(Stage("commit", lambda call, a=at, o=over: commit(a(call, o)), kind, reach, prepare=captured))
                made.append(Stage("step", step, kind, reach, prepare=lambda call: (settle(), discard(call))))
                made.append(Stage("read", lambda call, a=at, o=over: read(a(call, o)), kind, reach))
                made.append(Stage("readback", lambda call, a=at, o=over: readback(a(call, o)), kind, reach))
        return made
