"""The items of a pool that decide: of a file larger than memory, only the answers to these are kept.

An item on which all models say the same tells no two of them apart: its score is the same for all, whatever the
label. So a comparison of models needs only the number of such items, and what is said about them: one class each.
An item that a model was not run on is kept, for no label says how that model would have done.
"""

from dataclasses import dataclass

import numpy as np

from modelpicker.encoding import Array
from modelpicker.kernels.primitives import Codes, Ints


@dataclass(frozen=True)
class KeptRows:
    """The items on which models differ, or that a model was not run on; and what all models say about the others.

    The arrays may be files that are mapped into memory.
    """

    places: Ints
    """The numbers of the items that are kept, in order."""
    codes: Codes
    """What the models say about them."""
    agreed: Array
    """What all models say about each item; of one that is kept, it means nothing."""

    def __len__(self) -> int:
        """How many items there are, kept or not."""
        return len(self.agreed)

    def find(self, item: int) -> int:
        """The place of an item among those that are kept; -1 if it is not."""
        place = int(np.searchsorted(self.places, item))
        return place if place < len(self.places) and self.places[place] == item else -1

    def rows(self, items: Ints) -> Array:
        """What the models say about some items."""
        found = np.repeat(np.asarray(self.agreed[items], dtype=np.int32)[:, None], self.codes.shape[1], axis=1)
        if len(self.places):
            near = np.minimum(np.searchsorted(self.places, items), len(self.places) - 1)
            kept = self.places[near] == items
            found[kept] = self.codes[near[kept]]
        return found

    def said_by(self, model: int) -> Array:
        """What a model says about all items."""
        said = np.array(self.agreed)
        said[self.places] = self.codes[:, model]
        return said
