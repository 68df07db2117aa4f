# SPDX-License-Identifier: Apache-2.0
"""Packages that only some methods need, and that the wheel's extras bring."""

from __future__ import annotations

import importlib
from typing import Any


def optional(module: str, extra: str) -> Any:
    """The module; where it is not installed, an error that says how to get it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # One that is there and lacks something itself is not ours to explain.
        if error.name != module:
            raise
        raise ModuleNotFoundError(f"{module} is not installed; pip install 'routecap[{extra}]' brings it", name=module) from error
