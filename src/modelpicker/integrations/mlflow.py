"""MLflow: a pick as a run, and the alias of a registered model moved to the pick once it is certified."""

import re
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from modelpicker.campaigns.results.pick import Pick
from modelpicker.errors import InputError, MissingExtraError, NotFoundError, StateError, brief
from modelpicker.extras import require

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Metric

# What MLflow takes in one request, and what it allows in the name of a metric.
MOST_METRICS = 1_000
NOT_IN_NAMES = re.compile(r"[^\w\-. :/]")
VERSION = re.compile(r"(?:models:/)?(?P<name>[^/:@]+)/(?P<version>\d+)")


def log_pick(
    pick: Pick,
    *,
    title: str = "",
    params: Mapping[str, object] | None = None,
    run_id: str | None = None,
    experiment: str = "modelpicker",
    tracking_uri: str | None = None,
) -> str:
    """Log a pick as a run: parameters, metrics by label, figures and the report. Gives the id of the run.

    Args:
        pick: what `mp.pick` or `campaign.best()` gave.
        title: names the data, in the report and as the name of a new run.
        params: more parameters to note, such as the seed.
        run_id: an existing run. By default the active one, if there is one; else a new run.
        experiment: of a new run; made if it is not there.
        tracking_uri: where MLflow keeps its runs; by default as MLflow is set up.
    """
    if not isinstance(pick, Pick):
        raise InputError(f"{brief(pick)} is not a pick; pass what mp.pick or campaign.best() gives.")
    client = _client(tracking_uri)
    run, new = _find_run(client, run_id, experiment, title, tracking_uri)
    for name, value in {**_params(pick), **(params or {})}.items():
        client.log_param(run, name, value)
    for name, value in _tags(pick).items():
        client.set_tag(run, name, value)
    metrics = list(_metrics(pick))
    for start in range(0, len(metrics), MOST_METRICS):
        client.log_batch(run, metrics=metrics[start : start + MOST_METRICS])
    client.log_text(run, pick.report(title), "report.html")
    client.log_dict(run, pick.document(), "pick.json")
    try:
        client.log_figure(run, pick.plot(), "standing.png")
    except MissingExtraError:
        client.set_tag(run, "modelpicker.figures", 'none: pip install "modelpicker[figures]"')
    if new:
        client.set_terminated(run)
    return run


def move_alias(
    pick: Pick, versions: Mapping[str, str], *, alias: str = "champion", registry_uri: str | None = None
) -> str:
    """Move an alias of a registered model to the version that is the pick; an error unless it is certified.

    Args:
        pick: what `mp.pick` or `campaign.best()` gave.
        versions: the registered version of each model, such as `{"bert": "models:/tickets/3"}`.
        alias: what is moved.
        registry_uri: where MLflow keeps its models; by default as MLflow is set up.

    Returns:
        The URI of the alias, such as `models:/tickets@champion`.
    """
    if not pick.certified:
        raise StateError(
            f"the alias {brief(alias)} was not moved: {pick.model} is not certified. {pick.state.next}".strip()
        )
    found = {str(model): _read_version(str(model), uri) for model, uri in versions.items()}
    if str(pick.model) not in found:
        raise InputError(
            f"versions: the pick is {brief(pick.model)}, which is not among {brief(list(found))}; pass the "
            "registered version of every model.",
            parameter="versions",
        )
    client = _client(registry_uri, registry=True)
    name, version = found[str(pick.model)]
    from mlflow.exceptions import MlflowException

    try:
        client.get_model_version(name, version)
    except MlflowException as error:
        raise NotFoundError(f"the registry has no version {version} of {brief(name)}: {error.message}") from error
    client.set_registered_model_alias(name, alias, version)
    client.set_model_version_tag(name, version, "modelpicker.certificate", pick.certificate.sentence)
    return f"models:/{name}@{alias}"


def _client(uri: str | None, *, registry: bool = False) -> "MlflowClient":
    require("mlflow")
    from mlflow import MlflowClient

    return MlflowClient(registry_uri=uri) if registry else MlflowClient(uri)


def _find_run(
    client: "MlflowClient", run_id: str | None, experiment: str, title: str, tracking_uri: str | None
) -> tuple[str, bool]:
    """The run to log to, and whether it is new."""
    import mlflow
    from mlflow.exceptions import MlflowException

    if run_id is not None:
        try:
            return str(client.get_run(run_id).info.run_id), False
        except MlflowException as error:
            raise NotFoundError(f"run_id {brief(run_id)}: MLflow has no such run ({error.message}).") from error
    active = mlflow.active_run() if tracking_uri is None else None
    if active is not None:
        return str(active.info.run_id), False
    known = client.get_experiment_by_name(experiment)
    place = client.create_experiment(experiment) if known is None else known.experiment_id
    return str(client.create_run(place, run_name=title or None).info.run_id), True


def _params(pick: Pick) -> dict[str, object]:
    sure = pick.certificate
    return {
        "models": len(pick.standing),
        "items": pick.rounds,
        "budget": pick.budget,
        "certificate": sure.kind,
        "confidence": sure.confidence,
        "loss": sure.loss,
    }


def _tags(pick: Pick) -> dict[str, str]:
    return {
        "modelpicker.pick": str(pick.model) if pick.named else "",
        "modelpicker.certified": str(pick.certified).lower(),
        "modelpicker.certificate": pick.certificate.sentence,
        "modelpicker.state": pick.state.name,
    }


def _metrics(pick: Pick) -> Iterator["Metric"]:
    """Numbers of the end, and by label where it was noted how the pick came about: the step is the label."""
    from mlflow.entities import Metric

    now, end = int(time.time() * 1000), pick.labels_used
    yield Metric("labels_used", pick.labels_used, now, end)
    yield Metric("labels_saved", pick.labels_saved, now, end)
    course = pick.course
    if course is None or not course.proved:
        yield Metric("proved_gap", pick.certificate.gap, now, end)
    else:
        for label, gap in zip(course.labels, course.proved, strict=True):
            yield Metric("proved_gap", gap, now, label)
    for model, line in course.lines.items() if course is not None else ():
        for label, value in zip(course.labels if course else (), line, strict=True):
            if value is not None:
                yield Metric(metric_name(course.kind if course else "", model), value, now, label)
    for entry in pick.standing:
        if entry.gap is not None:
            yield Metric(metric_name("behind", entry.model), entry.gap, now, end)


def metric_name(what: str, model: object) -> str:
    """The name of a metric of one model; other characters than MLflow allows are replaced."""
    return f"{what}/{NOT_IN_NAMES.sub('_', str(model)).strip('/ ') or '_'}"[:250]


def _read_version(model: str, uri: Any) -> tuple[str, str]:
    """The name and the version that a URI of the registry names."""
    read = VERSION.fullmatch(uri) if isinstance(uri, str) else None
    if read is None:
        raise InputError(
            f"versions: {brief(uri)}, of model {brief(model)}, is not a registered version; write "
            "models:/NAME/VERSION, such as models:/tickets/3.",
            parameter="versions",
        )
    return read["name"], read["version"]
