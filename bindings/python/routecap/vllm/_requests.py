# SPDX-License-Identifier: Apache-2.0
"""What a request asked for, and the records of requests that have ended."""

from __future__ import annotations

import dataclasses
import logging
import re
from collections import OrderedDict
from typing import Any

import routecap

OPT_IN = "routecap"
"""Key of `SamplingParams.extra_args` (`vllm_xargs`) by which a request asks for its rows: 1 for them, 0 for none."""

logger = logging.getLogger(__name__)

# A client of the server may have no other values than texts.
_ANSWERS = {1: True, 0: False, "1": True, "0": False, "true": True, "false": False}

_RANDOM_TAIL = re.compile(r"-[0-9a-f]{8}\Z")
_COMPLETION = re.compile(r"(\d+)_(.*)\Z", re.DOTALL)


def opted_in(request: Any, default: bool) -> bool:
    """Whether this request of the scheduler wants its rows."""
    params = request.sampling_params
    if params is None:
        return False
    asked = (params.extra_args or {}).get(OPT_IN, default)
    wanted = _ANSWERS.get(asked) if isinstance(asked, (bool, int, float, str)) else None
    if wanted is None:
        logger.warning("routecap: request %s has %s %r, allowed are 0 and 1: it gets no rows", request.request_id, OPT_IN, asked)
    return bool(wanted)


def start_of(request: Any) -> int:
    """First row that the request wants; vLLM has checked it against the prompt."""
    return int(request.sampling_params.routed_experts_prompt_start)


Name = tuple[str, int]
"""A request's id as its caller may know it, and the number of the completion."""


def names_of(internal: str) -> list[Name]:
    """What a caller may call vLLM's internal request id: itself, and the id that was given when the request was made.

    vLLM adds `-` and eight hexadecimal digits to a request's id, and puts `i_` before it for completion i of several.
    """
    names = [(internal, 0), (_RANDOM_TAIL.sub("", internal), 0)]
    several = _COMPLETION.match(internal)
    if several:
        names += [(several[2], int(several[1])), (_RANDOM_TAIL.sub("", several[2]), int(several[1]))]
    return names


@dataclasses.dataclass
class Ended:
    """An ended request's record, and the first row that no delta has given yet."""

    record: routecap.Record
    emitted: int


class Results:
    """Records of ended requests until they are taken; the oldest go first when there are too many."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._ended: OrderedDict[str, Ended] = OrderedDict()
        self._internal: dict[Name, str] = {}
        self.forgotten = 0
        """Records that nobody took in time."""

    def put(self, internal: str, ended: Ended) -> None:
        """Keeps a record."""
        self._ended[internal] = ended
        for name in names_of(internal):
            self._internal[name] = internal
        while len(self._ended) > self._most:
            self._remove(next(iter(self._ended)))
            self.forgotten += 1

    def pop(self, request_id: str, index: int = 0) -> Ended | None:
        """The record that goes by this name, the last one of several; it is the caller's from now on."""
        internal = self._internal.get((request_id, index))
        return None if internal is None else self._remove(internal)

    def _remove(self, internal: str) -> Ended:
        for name in names_of(internal):
            if self._internal.get(name) == internal:
                del self._internal[name]
        return self._ended.pop(internal)

    def __len__(self) -> int:
        return len(self._ended)
