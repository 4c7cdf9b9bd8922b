"""What evaluation tools write, sent to the server: a file, or a folder in a zip archive."""

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from modelpicker.collections import document_tables
from tests.integrations import tool_files as files
from tests.server.servers import API, Running, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(f"sqlite:///{tmp_path_factory.mktemp('files')}/campaigns.db", largest_file=2**20) as running:
        yield running


def packed(folder: Path) -> bytes:
    """A folder as people pack it: with the folder itself, and what their computer puts beside it."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"__MACOSX/{folder.name}/._x.json", b"litter")
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder.parent))
    return stream.getvalue()


def begin(server: Running, name: str, filename: str, content: bytes) -> Any:
    """A campaign on the items of a file."""
    headers = {"content-type": "application/octet-stream"}
    address = f"{API}/campaigns?name={name}&filename={filename}"
    return server.http.post(address, content=content, headers=headers)


def test_results_of_an_evaluation_tool_become_a_campaign(server: Running, tmp_path: Path) -> None:
    content = files.promptfoo_results(tmp_path / "results.json").read_bytes()
    look = server.http.post(f"{API}/files?filename=results.json", content=content).json()
    assert (look["items"], look["models"], look["labelled"]) == (60, ["good", "bad"], True)
    made = begin(server, "tool", "results.json", content)
    assert made.status_code == 201, made.text
    assert made.json()["models"] == ["good", "bad"]


def test_a_folder_comes_as_a_zip_archive(server: Running, tmp_path: Path) -> None:
    content = packed(files.lm_eval_folder(tmp_path / "out"))
    made = begin(server, "folder", "out.zip", content)
    assert made.status_code == 201, made.text
    assert made.json()["models"] == ["org/bad", "org/good"]
    again = server.http.post(f"{API}/campaigns/folder/files?filename=out.zip", content=content)
    assert again.status_code == 200, again.text
    assert again.json()["waiting"] == 0 or again.json()["known"] == 60


def test_models_that_are_called_after_their_files_keep_their_names(server: Running, tmp_path: Path) -> None:
    for model in files.MODELS:
        files.mlflow_table(tmp_path / "runs" / model / "artifacts" / "eval_results_table.json", model)
    look = server.http.post(f"{API}/files?filename=runs.zip", content=packed(tmp_path / "runs")).json()
    assert look["models"] == ["bad", "good"]
    table = (tmp_path / "runs" / "good" / "artifacts" / "eval_results_table.json").read_bytes()
    look = server.http.post(f"{API}/files?filename=my%20gpt.json", content=table).json()
    assert look["models"] == ["my_gpt"]


def test_faults_are_told_by_the_name_of_the_file(server: Running, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.eval").write_bytes(b"PK no archive")
    answer = server.http.post(f"{API}/files?filename=logs.zip", content=packed(tmp_path / "logs"))
    assert answer.status_code == 422
    assert "modelpicker-" not in answer.text
    assert "logs.zip" in answer.json()["detail"]


def test_a_sheet_is_taken_and_one_of_endless_rows_is_not(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    book = Workbook()
    for row in (["id", "ant", "bee"], ["t1", "x", "y"], ["t2", "y", "y"]):
        book.active.append(row)
    stream = io.BytesIO()
    book.save(stream)
    look = server.http.post(f"{API}/files?filename=a.xlsx", content=stream.getvalue()).json()
    assert (look["items"], look["models"]) == (2, ["ant", "bee"])
    monkeypatch.setattr(document_tables, "MOST_CELLS", 100_000)
    for place in range(10, 40):
        book.active.cell(place, 16_384, "far")
    stream = io.BytesIO()
    book.save(stream)
    answer = server.http.post(f"{API}/files?filename=a.xlsx", content=stream.getvalue())
    assert answer.status_code == 422
    assert "more than 100,000 cells" in answer.json()["detail"]


def test_answers_of_which_none_belongs_to_another_are_refused(server: Running) -> None:
    rows = [[str(n), "q", "a", f"m{n}"] for n in range(4_000)]
    document = {"columns": ["id", "inputs", "outputs", "model"], "data": rows}
    answer = server.http.post(f"{API}/files?filename=a.json", content=json.dumps(document))
    assert answer.status_code == 422
    assert "4,000 answers of 4,000 models to 4,000 items" in answer.json()["detail"]
