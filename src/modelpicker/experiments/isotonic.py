"""The nearest curve that never falls."""

import numpy as np

from modelpicker.kernels.primitives import Floats


def rising(values: Floats, weights: Floats | None = None) -> Floats:
    """Isotonic regression: the non-falling sequence nearest in weighted squares (pool adjacent violators).

    >>> rising(np.array([1.0, 3.0, 2.0, 4.0])).tolist()
    [1.0, 2.5, 2.5, 4.0]
    """
    means: list[float] = []
    masses: list[float] = []
    lengths: list[int] = []
    given = np.ones(len(values)) if weights is None else weights
    for value, weight in zip(values.tolist(), given.tolist(), strict=True):
        mean, mass, length = value, weight, 1
        while means and means[-1] > mean:
            earlier = masses.pop()
            mean = (means.pop() * earlier + mean * mass) / (earlier + mass)
            mass += earlier
            length += lengths.pop()
        means.append(mean)
        masses.append(mass)
        lengths.append(length)
    return np.repeat(means, lengths)
