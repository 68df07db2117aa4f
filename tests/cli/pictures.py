# SPDX-License-Identifier: Apache-2.0
"""Reading heat maps back: which class a cell is drawn with, and what the colours are."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np

SVG = "{http://www.w3.org/2000/svg}"
LEVELS = 48
PIECE = re.compile(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h-([\d.]+)z")


def svg_of(text):
    """The svg element of an SVG document or of an HTML page."""
    return ElementTree.fromstring(text[text.index("<svg") : text.index("</svg>") + 6])


def texts(svg):
    return ["".join(element.itertext()) for element in svg.iter(SVG + "text")]


def cells(svg, rows, columns):
    """Class name of each cell [rows][columns]; every cell is drawn exactly once, and nothing beside them."""
    pieces = []
    for path in svg.iter(SVG + "path"):
        found = list(PIECE.finditer(path.get("d")))
        if not found:
            continue
        assert "".join(piece.group(0) for piece in found) == path.get("d"), path.get("d")
        pieces += [(path.get("class"), *map(float, piece.groups())) for piece in found]
    left, top = min(piece[1] for piece in pieces), min(piece[2] for piece in pieces)
    (height,) = {piece[4] for piece in pieces}
    right = max(piece[1] + piece[3] for piece in pieces)
    width = (right - left) / columns
    grid = [[None] * columns for _ in range(rows)]
    for name, x, y, extent, _, back in pieces:
        assert extent == back
        row, first, count = (y - top) / height, (x - left) / width, extent / width
        assert row == int(row) and abs(first - round(first)) < 1e-6 and abs(count - round(count)) < 1e-6
        for column in range(round(first), round(first) + round(count)):
            assert grid[int(row)][column] is None, "a cell is drawn twice"
            grid[int(row)][column] = name[3:]
    assert all(name is not None for line in grid for name in line), "a cell is not drawn"
    return grid


def level(value, top):
    """Class of a value, from the definition: 0 has one of its own, the scale is cut into equal parts."""
    if value is None:
        return "no"
    if value == 0:
        return "z"
    return str(min(LEVELS, max(1, int(np.ceil(round(value / top * LEVELS, 9))))) - 1)


def fills(style):
    """Name of a class to its colour, as RGB 0 .. 1, in one set of rules."""
    found = {}
    for names, rules in re.findall(r"([^{}]+)\{([^{}]*)\}", style):
        colour = re.search(r"(?:^|;)(?:fill|stroke):(#[0-9a-f]{6})", rules)
        for name in names.split(","):
            if colour:
                found.setdefault(name.strip().lstrip("."), np.array([int(colour.group(1)[i : i + 2], 16) / 255 for i in (1, 3, 5)]))
    return found


def schemes(text):
    """Light and dark rules of a picture that has both."""
    style = text[text.index("<style>") + 7 : text.index("</style>")]
    at = style.rindex("@media (prefers-color-scheme:dark){")
    return fills(style[:at]), fills(style[at + 35 :])


def linear(rgb):
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def luminance(rgb):
    return linear(rgb) @ np.array([0.2126, 0.7152, 0.0722])


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def cielab(light):
    """CIE 1976 L*a*b* of linear sRGB, D65."""
    xyz = light @ np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]).T
    f = xyz / np.array([0.95047, 1.0, 1.08883])
    f = np.where(f > 216 / 24389, np.cbrt(f), (24389 / 27 * f + 16) / 116)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], -1)


# What a person without one kind of cone sees, in linear sRGB (Viénot, Brettel and Mollon 1999).
VISIONS = {
    "all colours": np.eye(3),
    "no red cones": np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]]),
    "no green cones": np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]]),
    "no colours": np.tile([0.2126, 0.7152, 0.0722], (3, 1)),
}
