# SPDX-License-Identifier: Apache-2.0
"""The bars of a report, as SVG: microseconds on a logarithmic axis, median and spread, a group for every stage and batch size."""

import html
import math

import verdicts

WIDTH = 1180
LABEL = 330  # room for a group's name
BAR, GAP, GROUP = 13, 2, 12
TOP, BOTTOM = 92, 40
COLOURS = {"routecap-c": "#1b6ca8", "routecap-python": "#7fb2d9", "sglang": "#c8553d", "vllm": "#e0a458"}


def bars_of(report):
    """[(name, [(peer, row)])] of one thread and random slots, each stage and batch size once, peers first."""
    groups = {}
    for line in verdicts.lines(report):
        if line.threads != 1 or line.slots == "sequential":
            continue
        name = f"{verdicts.TITLES.get(line.stage, line.stage)}{', ' + line.reach if line.reach else ''}, n = {line.n}"
        group = groups.setdefault((line.stage, line.reach, line.n, name), {})
        group[line.peer] = line.theirs
        group["routecap-c"] = line.ours
        if line.python:
            group["routecap-python"] = line.python
    order = list(verdicts.TITLES)
    sorted_groups = sorted(groups.items(), key=lambda item: (order.index(item[0][0]) if item[0][0] in order else len(order), str(item[0][1]), item[0][2]))
    return [(key[3], [(peer, group[peer]) for peer in COLOURS if peer in group]) for key, group in sorted_groups]


def svg(report):
    groups = bars_of(report)
    rows = [row for _, bars in groups for _, row in bars]
    low = math.floor(math.log10(min(row["p10_us"] for row in rows)))
    high = math.ceil(math.log10(max(row["p90_us"] for row in rows)))
    plot = WIDTH - LABEL - 90
    x = lambda value: LABEL + (math.log10(max(value, 10**low)) - low) / (high - low) * plot
    height = TOP + BOTTOM + sum(len(bars) * (BAR + GAP) + GROUP for _, bars in groups)
    title = f"{report['workload']['name']}: microseconds of one call, one thread, random slots"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
        f'font-family="sans-serif" font-size="12"><title>{html.escape(title)}</title>',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/><text x="16" y="26" font-size="17">{html.escape(title)}</text>',
        f'<text x="16" y="46" fill="#555">{html.escape(report["machine"]["cpu"])}, {html.escape(report["date"])}. '
        "Bars: medians; lines: 10th to 90th percentile. Shorter is better; the axis is logarithmic.</text>",
    ]
    at = 16
    for peer, colour in COLOURS.items():
        if any(name == peer for _, bars in groups for name, _ in bars):
            out.append(f'<rect x="{at}" y="58" width="12" height="12" fill="{colour}"/><text x="{at + 17}" y="68">{peer}</text>')
            at += 30 + 8 * len(peer)
    for power in range(low, high + 1):
        label = f"{10.0**power:g}"
        out.append(
            f'<line x1="{x(10.0**power):.1f}" x2="{x(10.0**power):.1f}" y1="{TOP - 8}" y2="{height - BOTTOM}" stroke="#ddd"/>'
            f'<text x="{x(10.0**power):.1f}" y="{height - BOTTOM + 16}" text-anchor="middle" fill="#555">{label} us</text>'
        )
    y = TOP
    for name, bars in groups:
        middle = y + len(bars) * (BAR + GAP) / 2 + 3
        out.append(f'<text x="{LABEL - 10}" y="{middle:.1f}" text-anchor="end">{html.escape(name)}</text>')
        for peer, row in bars:
            end = x(row["median_us"])
            out.append(
                f'<rect x="{LABEL}" y="{y}" width="{max(end - LABEL, 0.5):.1f}" height="{BAR}" fill="{COLOURS[peer]}">'
                f"<title>{peer}: {row['median_us']:.2f} us</title></rect>"
                f'<line x1="{x(row["p10_us"]):.1f}" x2="{x(row["p90_us"]):.1f}" y1="{y + BAR / 2}" y2="{y + BAR / 2}" stroke="#222"/>'
                f'<text x="{max(end, x(row["p90_us"])) + 5:.1f}" y="{y + BAR - 3}" fill="#222" font-size="10">{row["median_us"]:,.1f}</text>'
            )
            y += BAR + GAP
        y += GROUP
    out.append("</svg>")
    return "\n".join(out) + "\n"
