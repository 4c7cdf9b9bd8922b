"""A pick as a run of a real MLflow, in a SQLite file."""

import json
import logging
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from modelpicker.integrations.mlflow import log_pick, metric_name, move_alias

TRUTH = ["yes", "no"] * 100
ROWS = [[label, label if place % 5 else "yes"] for place, label in enumerate(TRUTH)]
PICK = mp.pick(mp.ModelCollection(ROWS, TRUTH, ["bert", "gpt 4 (new)"]), tolerance=0.05)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A client of an MLflow that keeps everything in one folder."""
    import mlflow

    logging.getLogger("mlflow").setLevel(logging.ERROR)
    folder = tmp_path_factory.mktemp("mlflow")
    uri = f"sqlite:///{folder}/mlflow.db"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own use of SQLAlchemy
        client = mlflow.MlflowClient(uri)
        mlflow.set_tracking_uri(uri)
        client.create_experiment("modelpicker", artifact_location=folder.as_uri())
        yield client
    mlflow.set_tracking_uri("")  # as it was


pytestmark = pytest.mark.filterwarnings("ignore")
# To make the tables of MLflow takes 6 seconds.
with_store = pytest.mark.slow


def artifacts(client: Any, run: str) -> dict[str, Path]:
    return {one.path: Path(client.download_artifacts(run, one.path)) for one in client.list_artifacts(run)}


@with_store
def test_a_pick_is_a_run_with_parameters_metrics_by_label_figures_and_the_report(store: Any) -> None:
    run = store.get_run(log_pick(PICK, title="mails", params={"seed": 0}))
    assert run.info.run_name == "mails"
    assert run.info.status == "FINISHED"
    assert run.data.params["seed"] == "0"
    assert (run.data.params["items"], run.data.params["certificate"]) == ("200", "pool")
    assert run.data.tags["modelpicker.pick"] == "bert"
    assert run.data.tags["modelpicker.certified"] == "true"
    history = store.get_metric_history(run.info.run_id, "proved_gap")
    assert [one.step for one in history] == list(PICK.course.labels) if PICK.course else False
    assert history[-1].value == PICK.certificate.gap
    assert run.data.metrics["behind/gpt 4 _new_"] > 0.0
    files = artifacts(store, run.info.run_id)
    assert set(files) == {"report.html", "pick.json", "standing.png"}
    assert "Use bert." in files["report.html"].read_text()
    assert json.loads(files["pick.json"].read_text())["pick"] == "bert"
    assert files["standing.png"].read_bytes().startswith(b"\x89PNG")


@with_store
def test_an_active_run_and_a_run_by_its_id_are_used_and_left_open(store: Any) -> None:
    import mlflow

    with mlflow.start_run(experiment_id=store.get_experiment_by_name("modelpicker").experiment_id) as active:
        assert log_pick(PICK) == active.info.run_id
        assert store.get_run(active.info.run_id).info.status == "RUNNING"
    assert log_pick(PICK, run_id=active.info.run_id) == active.info.run_id
    with pytest.raises(mp.NotFoundError, match="run_id 'nothing': MLflow has no such run"):
        log_pick(PICK, run_id="nothing")


@with_store
def test_a_pick_without_labels_names_nobody(store: Any) -> None:
    pick = mp.pick(mp.ModelCollection(ROWS, models=["a", "b"]), lambda _: None)
    run = store.get_run(log_pick(pick, experiment="modelpicker"))
    assert run.data.tags["modelpicker.pick"] == ""
    assert run.data.tags["modelpicker.certified"] == "false"


@with_store
def test_the_alias_moves_to_the_certified_pick(store: Any, tmp_path: Path) -> None:
    store.create_registered_model("mails")
    made = {
        model: store.create_model_version("mails", tmp_path.as_uri()).version for model in ("gpt 4 (new)", "bert")
    }
    store.set_registered_model_alias("mails", "champion", made["gpt 4 (new)"])
    versions = {model: f"models:/mails/{version}" for model, version in made.items()}
    with pytest.raises(mp.StateError, match="was not moved: bert is not certified"):
        move_alias(replace(PICK, certified=False), versions)
    assert str(store.get_model_version_by_alias("mails", "champion").version) == str(made["gpt 4 (new)"])
    for _ in range(2):  # again is fine
        assert move_alias(PICK, versions) == "models:/mails@champion"
    now = store.get_model_version_by_alias("mails", "champion")
    assert str(now.version) == str(made["bert"])
    assert now.tags["modelpicker.certificate"] == PICK.certificate.sentence


@with_store
def test_a_version_that_the_registry_does_not_have_is_refused(store: Any) -> None:
    with pytest.raises(mp.NotFoundError, match="the registry has no version 9 of 'nothing'"):
        move_alias(PICK, {"bert": "models:/nothing/9"})


def test_wrong_versions_are_refused_before_anything_is_moved() -> None:
    with pytest.raises(mp.InputError, match="the pick is 'bert', which is not among"):
        move_alias(PICK, {"other": "models:/mails/1"})
    with pytest.raises(mp.InputError, match="'champion', of model 'bert', is not a registered version"):
        move_alias(PICK, {"bert": "champion"})
    with pytest.raises(mp.InputError, match="is not a pick"):
        log_pick("bert")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("model", "name"), [("a/b", "w/a/b"), ("né?", "w/né_"), ("", "w/_"), (3, "w/3"), ("x" * 400, "w/" + "x" * 248)]
)
def test_names_of_metrics_are_what_mlflow_allows(model: object, name: str) -> None:
    assert metric_name("w", model) == name
