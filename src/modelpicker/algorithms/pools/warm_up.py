"""Having all kernels of pools compiled or loaded at once, so that nobody waits for one of them later."""

from modelpicker.algorithms.pools.forecast import FORECAST_FROM
from modelpicker.algorithms.pools.guesses import mean_guess
from modelpicker.algorithms.pools.picker import PoolPicker


def warm_up_pools() -> None:
    """Use each kernel of a pool once, those first that are needed first."""
    small = PoolPicker([["a", "b"], ["b", "a"]] * FORECAST_FROM, tolerance=0.0)
    for item in small.ask(FORECAST_FROM):
        small.tell(item, "a")
    mean_guess(small, 0)
    small.labels_to_go()
    small.ask(1)
    small.macro_f1()
