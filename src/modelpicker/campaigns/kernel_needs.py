"""What campaigns need compiled: the kernels of a stream's algorithm with its options, or those of all pools."""

from dataclasses import dataclass, replace
from typing import Any, Self

from modelpicker.algorithms.pools.warm_up import warm_up_pools
from modelpicker.campaigns.settings import CampaignSettings
from modelpicker.certificates.leader_recorder import MOST_PAIRED

# Machine code does not depend on how many models there are; memory does.
FEW_MODELS = 2
POOLS = "pools"


@dataclass(frozen=True)
class KernelNeed:
    """Kernels that are compiled together."""

    name: str
    """Who needs them."""
    key: str
    """The same for campaigns that need the same machine code."""
    settings: CampaignSettings | None
    """Those of a small campaign on a stream that needs them; None for pools."""

    @classmethod
    def of_pools(cls) -> Self:
        """What every pool needs."""
        return cls(POOLS, POOLS, None)

    @classmethod
    def of(cls, settings: CampaignSettings) -> Self:
        """What a campaign needs."""
        if settings.pool is not None:
            return cls.of_pools()
        many = len(settings.models) > MOST_PAIRED  # then evidence is kept in another way
        small = replace(settings, models=settings.models[: MOST_PAIRED + 1 if many else FEW_MODELS])
        types = sorted((name, type(value).__name__) for name, value in settings.options.items())
        name = str(small.document()["algorithm"])
        return cls(name, f"{name} {types}{' of many models' if many else ''}", small)

    def document(self) -> dict[str, Any]:
        """In a form that JSON can hold."""
        return {"settings": None if self.settings is None else self.settings.document()}

    @classmethod
    def load(cls, document: dict[str, Any]) -> Self:
        """What `document` described."""
        settings = document["settings"]
        return cls.of_pools() if settings is None else cls.of(CampaignSettings.load(settings))

    def provide(self) -> None:
        """Have the kernels compiled, or loaded."""
        if self.settings is None:
            warm_up_pools()
            return
        from modelpicker.campaigns.state.states import (
            new_state,  # imports SQLAlchemy, which pools of files do without
        )

        new_state(self.settings).warm_up()
