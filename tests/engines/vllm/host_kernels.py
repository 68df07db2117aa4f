# SPDX-License-Identifier: Apache-2.0
"""The second model runner's bookkeeping kernels that run in every step, in numpy, put in place through vLLM's own registry of such replacements.

Triton's interpreter takes about 50 ms a step for them, which would drown what the benchmark measures. One rank, no graphs, greedy sampling; whatever else is
asked for goes to the interpreted kernel or is refused. Arguments are those of vLLM's kernels, in their order.
"""

import ctypes

import numpy as np

PLACE = "vllm.v1.worker.gpu."


def table_row(address, width, row):
    """Row of a block table that is known by its address: int32 [width]."""
    at = ctypes.cast(int(address) + 4 * int(width) * int(row), ctypes.POINTER(ctypes.c_int32))
    return np.ctypeslib.as_array(at, shape=(int(width),))


def arrays(*tensors):
    return [tensor.numpy() for tensor in tensors]


def gather_block_tables(requests, sources, targets, widths, block_counts, _stride, count, **_):
    requests, block_counts = arrays(requests, block_counts)
    for group, (source, target, width) in enumerate(zip(sources.tolist(), targets.tolist(), widths.tolist())):
        for row in range(count):
            blocks = block_counts[group, requests[row]]
            table_row(target, width, row)[:blocks] = table_row(source, width, requests[row])[:blocks]


def compute_slot_mappings(_most, requests, starts, positions, tables, widths, block_sizes, enabled, _sharded, slots, _stride, _rank, CP_SIZE, PAD_ID, **_):
    if CP_SIZE != 1:
        raise NotImplementedError("context parallelism")
    requests, starts, positions, slots = arrays(requests, starts, positions, slots)
    for group, (table, width, size, wanted) in enumerate(zip(tables.tolist(), widths.tolist(), block_sizes.tolist(), enabled.tolist())):
        slots[group, starts[len(requests)] :] = PAD_ID
        for row, request in enumerate(requests):
            part = slice(starts[row], starts[row + 1])
            if request < 0 or not wanted:
                slots[group, part] = PAD_ID
            else:
                block, offset = np.divmod(positions[part], size)
                slots[group, part] = table_row(table, width, request)[block].astype(np.int64) * size + offset


def prepare_prefill_inputs(inputs, following, _stride, ahead, requests, starts, tokens, _tokens_stride, prefill_lengths, computed, **_):
    inputs, following, requests, starts, tokens, prefill_lengths, computed = arrays(inputs, following, requests, starts, tokens, prefill_lengths, computed)
    for row, request in enumerate(requests):
        first, end = computed[request], prefill_lengths[request]
        if first >= end:
            continue
        count = starts[row + 1] - starts[row]
        inputs[starts[row] : starts[row + 1]] = tokens[request, first : first + count]
        for step in range(ahead):
            position = first + count + step
            following[step, request] = tokens[request, position] if position < end else 0


def prepare_pos_seq_lens(positions, lengths, requests, starts, computed, _most, **_):
    positions, lengths, requests, starts, computed = arrays(positions, lengths, requests, starts, computed)
    lengths[len(requests) :] = 0
    for row, request in enumerate(requests):
        count = starts[row + 1] - starts[row]
        lengths[row] = computed[request] + count
        positions[starts[row] : starts[row + 1]] = np.arange(computed[request], lengths[row])


def combine_sampled_and_draft_tokens(
    inputs, requests, last, starts, lengths, prefill_lengths, drafts, _stride, logits_before, places, NUM_NEW_SAMPLED_TOKENS=1, **_
):
    inputs, requests, starts, lengths, prefill_lengths = arrays(inputs, requests, starts, lengths, prefill_lengths)
    drafts, logits_before, places, last = drafts.numpy(), logits_before.numpy(), places.numpy(), last.numpy().reshape(-1)
    for row, request in enumerate(requests):
        count, end = logits_before[row + 1] - logits_before[row], starts[row + 1]
        drafted = count - NUM_NEW_SAMPLED_TOKENS
        places[logits_before[row] : logits_before[row + 1]] = np.arange(end - count, end)
        if lengths[row] <= prefill_lengths[request]:
            continue
        if NUM_NEW_SAMPLED_TOKENS > 0 and lengths[row] - count >= prefill_lengths[request]:
            inputs[end - count] = last[request]
        if drafted > 0:
            inputs[end - drafted : end] = drafts[request, :drafted]


def get_num_sampled_and_rejected(sampled, rejected, lengths, logits_before, requests, prefill_lengths, **_):
    sampled, rejected, lengths, logits_before, requests, prefill_lengths = arrays(sampled, rejected, lengths, logits_before, requests, prefill_lengths)
    count = len(requests)
    unfinished = lengths[:count] < prefill_lengths[requests]
    sampled[:count][unfinished] = 0
    rejected[:count] = np.where(unfinished, 0, np.diff(logits_before[: count + 1]) - sampled[:count])


def post_update(requests, computed, last, bins, _bins_stride, tokens, _tokens_stride, sampled, rejected, starts, all_tokens, _stride, totals, **_):
    requests, computed, tokens, sampled, rejected = arrays(requests, computed, tokens, sampled, rejected)
    all_tokens, totals, last = all_tokens.numpy(), totals.numpy(), last.numpy().reshape(-1)
    for row, request in enumerate(requests):
        if request < 0:
            continue
        new = tokens[row, : sampled[row]]
        if len(new) > 0:
            last[request] = new[-1]
            all_tokens[request, totals[request] : totals[request] + len(new)] = new
            totals[request] += len(new)
            for token in new if bins is not None else ():
                bins[request, int(token)] += 1
        count = 0 if starts is None else int(starts[row + 1] - starts[row])
        computed[request] += count - rejected[row]


def greedy_sample(interpreted):
    def sample(best, best_stride, value, value_stride, *rest, BLOCK_SIZE, **options):
        cache, logits, requests, temperature, vocabulary = rest[0], rest[6], rest[8], rest[11], rest[12]
        if cache is not None or bool((temperature[requests] != 0).any()):
            grid = (logits.shape[0], -(-vocabulary // BLOCK_SIZE))
            interpreted[grid](best, best_stride, value, value_stride, *rest, BLOCK_SIZE=BLOCK_SIZE, **options)
            return
        for block, first in enumerate(range(0, vocabulary, BLOCK_SIZE)):
            found = logits[:, first : min(first + BLOCK_SIZE, vocabulary)].float().max(dim=1)
            value[:, block], best[:, block] = found.values, found.indices + first

    return sample


def use():
    """After vLLM's import and before the first engine."""
    import vllm.v1.worker.cpu.model_runner  # noqa: F401  loads the kernels that are replaced
    from vllm.triton_utils.dispatcher import register_kernels
    from vllm.v1.worker.gpu.sample import gumbel

    register_kernels(
        {
            PLACE + "block_table._gather_block_tables_kernel": gather_block_tables,
            PLACE + "block_table._compute_slot_mappings_kernel": compute_slot_mappings,
            PLACE + "input_batch._prepare_prefill_inputs_kernel": prepare_prefill_inputs,
            PLACE + "input_batch._prepare_pos_seq_lens_kernel": prepare_pos_seq_lens,
            PLACE + "input_batch._combine_sampled_and_draft_tokens_kernel": combine_sampled_and_draft_tokens,
            PLACE + "input_batch._get_num_sampled_and_rejected_kernel": get_num_sampled_and_rejected,
            PLACE + "input_batch._post_update_kernel": post_update,
            PLACE + "sample.gumbel._gumbel_sample_kernel": greedy_sample(gumbel._gumbel_sample_kernel),
        }
    )
