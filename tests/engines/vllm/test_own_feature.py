# SPDX-License-Identifier: Apache-2.0
"""vLLM's own `routed_experts` and routecap's record of the same request in one run, row for row. Only the second model runner has the feature."""

import conftest
import environment
import numpy as np
import pytest

pytestmark = pytest.mark.skipif(environment.RUNNER != "v2", reason="the first model runner has no such feature")
DENSE = (0, 3)


def test_equal_row_for_row(engine):
    run = engine({"dense": DENSE}, enable_return_routed_experts=True)
    first = conftest.prompts(8, longest=150, common=30, seed=30)
    rows = 0
    for outputs in (run.run(first, max_tokens=10), run.run([prompt + [9, 8, 7] * 6 for prompt in first], max_tokens=6)):
        for output in outputs:
            own = output.outputs[0].routed_experts
            record = run.attachment.take(output.request_id)
            assert own.shape == (record.rows, 6, 8) and own.dtype == record.ids.dtype
            np.testing.assert_array_equal(own[:, record.layer_ids], record.ids)
            assert (own[:, DENSE] == 0).all()  # expert 0, as it seems; a record has no such column
            rows += record.rows
    assert rows > 1000


def test_equal_from_a_start(engine):
    run = engine(enable_return_routed_experts=True)
    (output,) = run.run(conftest.prompts(1, shortest=40, seed=31), routed_experts_prompt_start=17)
    record = run.attachment.take(output.request_id)
    assert record.start == 17
    np.testing.assert_array_equal(output.outputs[0].routed_experts, record.ids)


def test_where_theirs_gives_nothing_for_an_aborted_request(engine):
    run = engine(enable_return_routed_experts=True)
    run.add("cut", [5, 6, 7, 8] * 8, max_tokens=50)
    seen = []
    for _ in range(4):
        seen += run.step()
    run.llm.llm_engine.abort_request(["cut"])
    assert all(output.outputs[0].routed_experts is None for output in seen)
    record = run.attachment.take("cut")
    np.testing.assert_array_equal(record.ids, run.oracle.named("cut"))
    assert record.rows == 32 + 4 - 1
