# SPDX-License-Identifier: Apache-2.0
"""Routing records out of vLLM, without editing it.

In the process of the engine:

    llm = vllm.LLM(...)                          # with VLLM_ENABLE_V1_MULTIPROCESSING=0
    attachment = routecap.vllm.attach(llm)
    outputs = llm.generate(prompts, SamplingParams(extra_args={"routecap": 1}))
    record = attachment.take(outputs[0].request_id)

In a server, whose engine runs in a process of its own, vLLM loads this package as a plugin; it does nothing unless it is asked to:

    vllm serve MODEL --additional-config '{"routecap": {}}'

A request opts in with `extra_args={"routecap": 1}` (`vllm_xargs` in the OpenAI-compatible API) and may leave out the first prompt rows with vLLM's own
`routed_experts_prompt_start`. `docs/vllm.md` tells what comes back, and what is refused.
"""

from routecap.vllm._attachment import Attachment, attach
from routecap.vllm._plugin import register
from routecap.vllm._requests import OPT_IN

__all__ = ["OPT_IN", "Attachment", "attach", "register"]
