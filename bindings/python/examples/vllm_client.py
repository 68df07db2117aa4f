# SPDX-License-Identifier: Apache-2.0
"""Asks a vLLM server for a completion and for the experts that its tokens were routed to.

The server runs with routecap in its environment:

    vllm serve MODEL --additional-config '{"routecap": {}}'

    python vllm_client.py --url http://localhost:8000 --prompt "5 6 7 8" --tokens 16
"""

import argparse
import json
import urllib.request

import routecap


def complete(url: str, prompt: list[int], tokens: int, start: int = 0, choices: int = 1) -> list[tuple[list[int], routecap.Record]]:
    """Generated tokens of each choice, and the record of its rows [start, prompt and generated tokens less one)."""
    body = {
        "prompt": prompt,
        "max_tokens": tokens,
        "n": choices,
        "return_token_ids": True,
        "vllm_xargs": {"routecap": 1},  # the opt-in: without it the server keeps rows for itself
        "routed_experts_prompt_start": start,
    }
    request = urllib.request.Request(f"{url}/v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        found = json.load(answer)["choices"]
    return [(choice["token_ids"], routecap.Record.decode("frame-base64", choice["routed_experts"])) for choice in found]


def main() -> None:
    """One request, and what is in its record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default="http://localhost:8000")
    parser.add_argument("--prompt", type=lambda text: [int(word) for word in text.split()], required=True, help="token ids")
    parser.add_argument("--tokens", type=int, default=16)
    parser.add_argument("--start", type=int, default=0, help="first row that is wanted")
    options = parser.parse_args()
    for tokens, record in complete(options.url, options.prompt, options.tokens, options.start):
        print(f"tokens {tokens}")
        print(f"rows {record.start} .. {record.start + record.rows - 1} of layers {record.layer_ids.tolist()}, {int((~record.valid).sum())} missing")
        if record.rows:
            print(f"row {record.start}, layer {record.layer_ids[0]}: experts {record.ids[0, 0].tolist()}")


if __name__ == "__main__":
    main()
