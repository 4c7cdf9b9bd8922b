"""A client for the service: the same words as a campaign that is opened here, over HTTP.

Whatever goes wrong on the way, a call is tried again until it is answered or the patience is spent, and that is
safe: every item is asked with a key (one is made up where none is given), a label told twice counts once, and where
a second try is told that it is done already, the first has done it.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode

from modelpicker.algorithms.budgets import BudgetWay
from modelpicker.campaigns.setting_options import (
    COSTS,
    POOL_ALGORITHM,
    SETTINGS,
    AskFor,
    OverlapRule,
    refuse_judge_of_stream,
    refuse_slice_of_stream,
)
from modelpicker.certificates.certificate import Certified
from modelpicker.encoding import ClassName, Missing, ModelName
from modelpicker.errors import ConflictError, InputError
from modelpicker.server.remote_campaign import RemoteCampaign
from modelpicker.server.transport import Transport

if TYPE_CHECKING:  # a client that is sent no data frame needs neither Arrow nor SQLAlchemy
    import httpx2

    from modelpicker.collections.column_roles import Role


class Client:
    """A server, and the campaigns that it serves.

    Args:
        url: where the server is.
        token: what `modelpicker tokens create` printed; servers on this machine need none.
        timeout: seconds to wait for a connection, and for the server to continue sending or reading.
        patience: seconds after which a call that keeps failing is given up.
        http_client: sends the requests, with its own timeouts, proxy, certificates and headers; you close it.
            Without it, proxies are those of the environment (`HTTPS_PROXY`), certificates those of the system.

    The example needs a server, so it is run with docs/how-to/service.md:

    >>> import modelpicker as mp
    >>> with mp.Client("http://127.0.0.1:8000") as client:  # doctest: +SKIP
    ...     campaign = client.create_campaign("tickets", models=["bert", "gpt"])
    ...     query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
    ...     campaign.tell(query.id, "spam")
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        token: str | None = None,
        *,
        timeout: float = 30.0,
        patience: float = 60.0,
        http_client: "httpx2.Client | None" = None,
    ) -> None:
        self._transport = Transport(url, token, timeout, patience, http_client)

    def close(self) -> None:
        """Close its connections."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def campaigns(self) -> list[dict[str, Any]]:
        """The campaigns of the server, by name."""
        found: list[dict[str, Any]] = self._transport.call("GET", "/campaigns")["campaigns"]
        return found

    def campaign(self, name: str) -> RemoteCampaign:
        """A campaign that is there."""
        found = RemoteCampaign(self._transport, name)
        found.describe()
        return found

    def create_campaign(
        self,
        name: str,
        *,
        models: Sequence[ModelName] | int | None = None,
        classes: Sequence[ClassName] | None = None,
        budget: int | None = None,
        budget_way: BudgetWay = "paced",
        expected_rounds: int | None = None,
        stop_when: Certified | None = None,
        overlap: float = 1,
        overlap_rule: OverlapRule = "all",
        ask_for: AskFor = "class",
        same: str | float = "exact",
        missing: Missing = "abstained",
        seed: int = 0,
        algorithm: str = "model-picker",
        options: Mapping[str, Any] | None = None,
        pool: str | Path | None = None,
        columns: "Mapping[str, Role] | None" = None,
        tolerance: float | None = None,
        confidence: float | None = None,
        use_labels: bool = False,
        judge: str | None = None,
        slice: str | None = None,  # noqa: A002 - as users say it
        loss: object = None,
        price: Mapping[str, float] | None = None,
        label_noise: float = 0.0,
        guidelines: str = "",
    ) -> RemoteCampaign:
        """Begin a campaign; the settings are those of `mp.create_campaign`.

        `pool` is a file, which is sent; `columns` says what its columns are: model, shown, id, label or left out.
        `judge` is its column with cheap labels that may be wrong, `slice` the one whose values are slices. `loss`,
        `price` and `label_noise` say what mistakes and models cost, and how many labels are wrong.
        """
        if pool is None:
            refuse_judge_of_stream(judge)
            refuse_slice_of_stream(slice)
        else:
            streams = {"models": models, "classes": classes, "expected_rounds": expected_rounds, "options": options}
            if refused := [one for one, value in {**streams, "stop_when": stop_when}.items() if value is not None]:
                raise InputError(f"{refused[0]} does not go with pool; say with columns which columns are models.")
            goal: dict[str, Any] = {"tolerance": tolerance, "confidence": confidence, "budget": budget}
            goal |= {"judge": judge, "slice": slice}
            given = {one: value for one, value in goal.items() if value is not None}
            more = {"overlap": overlap, "overlap_rule": overlap_rule, "ask_for": ask_for, "same": same}
            more |= {"missing": missing, "use_labels": use_labels, "seed": seed, "guidelines": guidelines}
            return self._create_pool(
                name, Path(pool), columns, {**given, **more, **_costs(loss, price, label_noise)}
            )
        if models is None:
            raise InputError("models: pass the models of the stream, or pool= with a file of items.")
        body: dict[str, Any] = {
            "name": name,
            "guidelines": guidelines,
            "models": models if isinstance(models, int) else list(models),
            "classes": None if classes is None else list(classes),
            "budget": budget,
            "budget_way": budget_way,
            "expected_rounds": expected_rounds,
            "stop_when": None if stop_when is None else stop_when.document(),
            "overlap": overlap,
            "overlap_rule": overlap_rule,
            "ask_for": ask_for,
            "same": same,
            "missing": missing,
            "seed": seed,
            "algorithm": algorithm,
            "options": dict(options or {}),
            **_costs(loss, price, label_noise, classes or ()),
        }
        made = self._transport.call("POST", "/campaigns", body, done=ConflictError)
        campaign = RemoteCampaign(self._transport, name)
        # A try that was never answered may have made it, or somebody else.
        if made is None and not _is_same(campaign.describe(), body):
            raise ConflictError(f"there already is a campaign {name!r}; open that one, or choose another name.")
        return campaign

    def _create_pool(
        self, name: str, path: Path, columns: "Mapping[str, Role] | None", settings: Mapping[str, Any]
    ) -> RemoteCampaign:
        """Send the file of a pool."""
        asked = {"name": name, "filename": path.name, **settings}
        asked |= {one: json.dumps(value) for one, value in settings.items() if isinstance(value, dict)}
        if columns:
            asked["columns"] = json.dumps(dict(columns))
        made = self._transport.send(f"/campaigns?{urlencode(asked)}", path.read_bytes(), done=ConflictError)
        campaign = RemoteCampaign(self._transport, name)
        # A try that was never answered may have made it, or somebody else.
        if made is None and not _is_same_pool(campaign.describe(), settings):
            raise ConflictError(f"there already is a campaign {name!r}; open that one, or choose another name.")
        return campaign


def _is_same_pool(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a campaign is on a pool with this goal."""
    same = {
        name: found[name]
        for name in ("budget", "overlap", "overlap_rule", "ask_for", "same", "missing", "guidelines")
    }
    shown = {**found["options"], **same, "seed": int(found["seed"])}
    return found["algorithm"] == POOL_ALGORITHM and all(
        shown.get(name) == value
        for name, value in wanted.items()
        if name != "use_labels" and (name, value) != ("loss", "balanced")  # which the file says
    )


def _costs(
    loss: object, price: Mapping[str, float] | None, label_noise: float, classes: Sequence[ClassName] = ()
) -> dict[str, Any]:
    """What mistakes and models cost, in a form that can be sent; only what is given."""
    from modelpicker.losses import ACCURATE, Loss

    found: dict[str, Any] = {}
    if loss == "balanced":
        found["loss"] = loss
    elif (checked := Loss.of(loss)) != ACCURATE:
        found["loss"] = checked.spelt_as(list(classes)).to_json()
    if price is not None:
        found["price"] = {str(name): float(value) for name, value in dict(price).items()}
    return found | ({"label_noise": label_noise} if label_noise else {})


def _is_same(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a campaign was made with these settings; it may have more options than were given."""
    shown = {**found, "seed": int(found["seed"])}
    if isinstance(wanted["models"], int):
        shown["models"] = len(found["models"])
    names = [option.name for option in SETTINGS if option.name != "options"]
    known = all(found["options"].get(name) == wanted.get(name) for name in COSTS)
    return known and all(shown[name] == wanted[name] for name in names)
