# SPDX-License-Identifier: Apache-2.0
"""From start-up to the rows of a request."""

import numpy as np
import routecap


def main() -> None:
    # Once, at start-up: two captured layers of 256 experts, 2 chosen per token, and a store of 1024 KV slots.
    config = routecap.Config(num_experts=256, top_k=2, layer_ids=[3, 4], chunked_prefill_size=128, num_slots=1024)
    with routecap.Capturer(config) as capturer:
        target = capturer.add_model(routecap.Role.TARGET, "target")
        taps = [target.add_tap(layer) for layer in config.layer_ids]
        capturer.seal()

        # Every forward: each layer hands over its router's top-k ids [tokens, K]; then the rows go to the tokens' KV slots.
        topk = np.array([[[17, 4], [255, 0], [9, 30]], [[1, 2], [3, 4], [5, 6]]], np.int32)
        slots = [40, 41, 7]
        for tap, ids in zip(taps, topk):
            tap.capture(ids)
        with capturer.end_forward(3, slots) as output:
            # Later, on any thread: the rows reach the store.
            output.copy_to_host()
            output.wait(timeout=1.0)
            output.finalize()

        # When the request ends: a request of 4 tokens has 3 rows, its last token was never an input.
        record = capturer.read(slots, tokens=4)

    # The record lives on, and its ids [rows, layers, K] are a view of its own memory.
    for row in range(record.rows):
        first, second = record.ids[row]
        print(f"token {record.start + row}: layer 3 -> {first[0]} {first[1]}, layer 4 -> {second[0]} {second[1]}")


if __name__ == "__main__":
    main()
