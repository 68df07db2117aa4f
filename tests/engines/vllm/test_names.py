# SPDX-License-Identifier: Apache-2.0
"""Requests go by the id that was given and by vLLM's internal one; results are bounded."""

from types import SimpleNamespace

from routecap.vllm._requests import Ended, Results, names_of, opted_in


def test_names_of_an_internal_id():
    assert set(names_of("job-0123abcd")) == {("job-0123abcd", 0), ("job", 0)}
    assert ("job", 2) in names_of("2_job-0123abcd")
    assert ("job-0123abcd", 2) in names_of("2_job-0123abcd")
    assert set(names_of("job-0123ABCD")) == {("job-0123ABCD", 0)}  # the caller's own tail


def test_results_are_found_by_every_name_once():
    results = Results(8)
    for index in range(3):
        results.put(f"{index}_job-0123abcd", Ended(record=index, emitted=0))
    results.put("lone-ffffffff", Ended(record="lone", emitted=0))
    assert results.pop("job", 1).record == 1
    assert results.pop("job", 1) is None
    assert results.pop("2_job-0123abcd").record == 2
    assert results.pop("job").record == 0
    assert results.pop("lone").record == "lone"
    assert len(results) == 0


def test_the_oldest_results_go_first():
    results = Results(2)
    for number in range(3):
        results.put(f"r{number}", Ended(record=number, emitted=0))
    assert results.forgotten == 1 and results.pop("r0") is None and results.pop("r2").record == 2


def test_a_name_that_is_used_again_is_the_last_one():
    results = Results(4)
    results.put("job-00000000", Ended(record="old", emitted=0))
    results.put("job-11111111", Ended(record="new", emitted=0))
    assert results.pop("job").record == "new"
    assert results.pop("job") is None
    assert results.pop("job-00000000").record == "old"


def test_opting_in():
    def request(extra_args):
        return SimpleNamespace(request_id="r", sampling_params=SimpleNamespace(extra_args=extra_args))

    assert opted_in(request({"routecap": 1}), default=False)
    assert not opted_in(request({"routecap": 0}), default=True)
    assert opted_in(request(None), default=True) and not opted_in(request({"other": 1}), default=False)
    assert not opted_in(SimpleNamespace(sampling_params=None), default=True)  # a pooling request
    for yes in (True, 1.0, "1", "true"):
        assert opted_in(request({"routecap": yes}), default=False)
    for no in (False, 0.0, "0", "false"):
        assert not opted_in(request({"routecap": no}), default=True)
    for neither in ("yes", "", -1, 2, None, [1], {"a": 1}):
        assert not opted_in(request({"routecap": neither}), default=True)
