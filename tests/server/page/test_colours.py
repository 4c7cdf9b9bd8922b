"""The colours of lines: people can tell any two apart, also those who do not see red or green.

What they see is simulated by the matrices of Machado, Oliveira and Fernandes (2009) at full severity and of Viénot,
Brettel and Mollon (1999), both in linear RGB. Distances are CIEDE2000; 2 is about what can just be noticed.
"""

import re
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from tests.server.page.test_static import STATIC

Vector = npt.NDArray[np.float64]

FAR_APART = 15.0
# Of the lines against the card that they are drawn on (WCAG 2.2, 1.4.11).
CONTRAST = 3.0
SEES = {
    "everything": np.eye(3),
    "no green (Machado)": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "no red (Machado)": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no green (Viénot)": np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]),
    "no red (Viénot)": np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]),
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def colours(theme: str) -> dict[str, Vector]:
    """The colours of a theme, by name, in linear RGB."""
    text = (STATIC / "css" / "base.css").read_text()
    found = re.findall(r"(--[\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", text)
    return {name: linear(light if theme == "light" else dark) for name, light, dark in found}


def linear(colour: str) -> Vector:
    values = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(rgb: Vector) -> Vector:
    x, y, z = TO_XYZ @ np.clip(rgb, 0, 1) / TO_XYZ.sum(1)
    fx, fy, fz = (np.cbrt(v) if v > 216 / 24389 else (24389 / 27 * v + 16) / 116 for v in (x, y, z))
    return np.array([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


def ciede2000(one: Vector, other: Vector) -> float:
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    stretch = 1.5 - 0.5 * np.sqrt(mean**7 / (mean**7 + 25.0**7))
    a1, a2 = a1 * stretch, a2 * stretch
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = np.degrees(np.arctan2(b1, a1)) % 360, np.degrees(np.arctan2(b2, a2)) % 360
    turn = (h2 - h1 + 180) % 360 - 180
    hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2))
    light, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    middle = (h1 + turn / 2) % 360
    t = 1 - 0.17 * np.cos(np.radians(middle - 30)) + 0.24 * np.cos(np.radians(2 * middle))
    t += 0.32 * np.cos(np.radians(3 * middle + 6)) - 0.20 * np.cos(np.radians(4 * middle - 63))
    by_light = (l2 - l1) / (1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2))
    by_chroma = (c2 - c1) / (1 + 0.045 * chroma)
    by_hue = hue / (1 + 0.015 * chroma * t)
    bend = -2 * np.sqrt(chroma**7 / (chroma**7 + 25.0**7))
    bend *= np.sin(np.radians(60 * np.exp(-(((middle - 275) / 25) ** 2))))
    return float(np.sqrt(by_light**2 + by_chroma**2 + by_hue**2 + bend * by_chroma * by_hue))


def test_the_distance_is_that_of_the_published_examples() -> None:
    """Pairs of Sharma, Wu and Dalal (2005), which is what implementations are checked with."""
    for one, other, distance in (
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ):
        assert ciede2000(np.array(one), np.array(other)) == pytest.approx(distance, abs=1e-4)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("sees", SEES)
def test_any_two_lines_can_be_told_apart(theme: str, sees: str) -> None:
    found = colours(theme)
    lines = [name for name in found if re.fullmatch(r"--line-\d", name)]
    assert len(lines) == 6
    near = {
        (one, other): round(ciede2000(lab(SEES[sees] @ found[one]), lab(SEES[sees] @ found[other])), 1)
        for one, other in combinations(lines, 2)
    }
    assert {pair: distance for pair, distance in near.items() if distance < FAR_APART} == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_line_stands_out_from_its_card(theme: str) -> None:
    found = colours(theme)
    weak = {}
    for name, colour in found.items():
        dark, light = sorted(float(TO_XYZ[1] @ one) + 0.05 for one in (colour, found["--surface"]))
        if re.fullmatch(r"--line-\d", name) and light / dark < CONTRAST:
            weak[name] = light / dark
    assert weak == {}
