"""Evaluation tables, written by the real MLflow."""

from pathlib import Path

import pytest

import modelpicker as mp
from tests.integrations.tool_files import MODELS, answers, truth

pytestmark = pytest.mark.filterwarnings("ignore")  # those of MLflow


def test_tables_that_mlflow_logged_are_read_one_model_per_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mlflow
    import pandas as pd

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # a database takes it many seconds to make
    mlflow.set_tracking_uri((tmp_path / "store").as_uri())
    asked = [f"{item}+{item}?" for item in range(30)]
    right = [truth(item) for item in range(30)]
    experiment = mlflow.create_experiment("sums", artifact_location=(tmp_path / "runs").as_uri())
    for model in MODELS:
        frame = pd.DataFrame({"inputs": asked, "ground_truth": right, "outputs": answers(model, 30)})
        with mlflow.start_run(experiment_id=experiment, run_name=model):
            mlflow.log_table(frame, f"{model}.json")
    found = mp.load_collection(tmp_path / "runs")
    assert set(found.models) == set(MODELS)
    assert found.labelled == 30
    assert mp.pick(tmp_path / "runs", tolerance=0.1).model == "good"


def test_of_a_table_with_run_ids_each_run_is_a_model(tmp_path: Path) -> None:
    import json

    rows = [
        [f"{item}?", truth(item), said, model] for model in MODELS for item, said in enumerate(answers(model, 10))
    ]
    columns = ["inputs", "targets", "outputs", "run_id"]
    path = tmp_path / "table.json"
    path.write_text(json.dumps({"columns": columns, "data": rows}))
    assert mp.load_collection(path).models == ("good", "bad")
    path.write_text(json.dumps({"columns": columns, "data": [*rows, ["a"]]}))
    with pytest.raises(mp.InputError, match="a row does not have one cell per column"):
        mp.load_collection(path)
