"""Pictures that show themselves in a notebook, without pyplot and its open windows."""

import io

from modelpicker.extras import require

require("figures")

from matplotlib.figure import Figure

# Mid tones: they can be told apart in grey, by the colour-blind, and on light and dark pages.
BLUE, ORANGE, GREY, GREEN = "#0072b2", "#d55e00", "#8b95a1", "#0b8a63"
INK, QUIET = "#1f2937", "#6b7280"


class Picture(Figure):
    """A figure of matplotlib that a notebook shows as the last value of a cell."""

    def _repr_png_(self) -> bytes:
        target = io.BytesIO()
        self.savefig(target, format="png", dpi=130)
        return target.getvalue()
