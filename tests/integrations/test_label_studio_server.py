"""A real Label Studio: it takes our tasks and interface, and its webhook and its export come back.

Label Studio is large, and needs its own environment: `pip install label-studio` anywhere, and name its command in
MODELPICKER_LABEL_STUDIO.
"""

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from modelpicker.integrations.annotation_files import read_annotations, write_tasks
from tests.integrations.annotators import campaign, label, result, says
from tests.server.servers import serving, wait_until

pytestmark = pytest.mark.slow
TOKEN = "0123456789abcdef" * 2
SECRET = "a secret of sixteen letters"  # noqa: S105 - of this test
SETTINGS = {
    "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
    "SSRF_PROTECTION_ENABLED": "false",  # by which it would refuse to call this machine
    "COLLECT_ANALYTICS": "false",
    "LATEST_VERSION_CHECK": "false",
    "SENTRY_DSN": "",
    "FRONTEND_SENTRY_DSN": "",
}


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """Label Studio, with one user."""
    command = os.environ.get("MODELPICKER_LABEL_STUDIO") or shutil.which("label-studio")
    if command is None:
        pytest.skip("LABEL STUDIO IS NOT TESTED: install it, and name its command in MODELPICKER_LABEL_STUDIO")
    folder = tmp_path_factory.mktemp("label-studio")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    start = [
        command,
        "start",
        "--no-browser",
        "--port",
        port,
        "--internal-host",
        "127.0.0.1",
        "--user-token",
        TOKEN,
    ]
    user = ["--username", "mia@example.org", "--password", "not-so-secret-1"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"LABEL_STUDIO_BASE_DATA_DIR": str(folder), **SETTINGS}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen([*start, *user], cwd=folder, env=environment, stdout=log, stderr=log)
    headers = {"Authorization": f"Token {TOKEN}"}
    with httpx2.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60) as client:
        try:
            wait_until(lambda: _answers(client) or process.poll() is not None, 300)
            assert process.poll() is None, (folder / "log").read_text()[-3000:]
            yield client
        finally:
            process.terminate()
            process.wait(30)


def _answers(client: httpx2.Client) -> bool:
    try:
        return client.get("/api/projects/").status_code == 200
    except httpx2.TransportError:
        return False


def call(studio: httpx2.Client, method: str, path: str, body: Any = None) -> Any:
    answer = studio.request(method, path, json=body)
    assert answer.status_code < 300, answer.text[:1000]
    return answer.json() if answer.content else None


@pytest.mark.parametrize("ask_for", ["class", "grades", "preference"])
def test_tasks_go_in_and_annotations_come_back_as_they_happen_and_as_a_file(
    studio: httpx2.Client, tmp_path: Path, ask_for: str
) -> None:
    url = f"sqlite:///{tmp_path / 'campaigns.db'}"
    pool, copy = campaign(url, ask_for), campaign(url, ask_for, name="copy")
    copy.pending(4)
    _, (path, config) = write_tasks(pool, tmp_path / "tasks.json", "label-studio", count=4)
    interface = config.read_text(encoding="utf-8")
    project = call(studio, "POST", "/api/projects/", {"title": f"tickets {ask_for}", "label_config": interface})[
        "id"
    ]
    assert (
        call(studio, "POST", f"/api/projects/{project}/import", json.loads(path.read_text(encoding="utf-8")))[
            "task_count"
        ]
        == 4
    )
    with serving(url, label_studio_secret=SECRET) as server:
        hook = {
            "url": f"{server.url}/api/v1/campaigns/tickets/webhooks/label-studio",
            "project": project,
            "headers": {"X-Modelpicker-Secret": SECRET},
            "send_payload": True,
            "send_for_all_actions": True,
        }
        call(studio, "POST", "/api/webhooks/", hook)
        tasks = sorted(call(studio, "GET", f"/api/tasks?project={project}")["tasks"], key=lambda task: task["id"])
        marks = [task["data"]["modelpicker"] for task in tasks]
        made = [
            call(studio, "POST", f"/api/tasks/{task['id']}/annotations/", _annotation(ask_for, mark))
            for task, mark in zip(tasks[:3], marks, strict=False)
        ]
        wait_until(lambda: pool.counts().labels == 3)
        for mark in marks[:3]:
            assert pool.label_of(mark["id"]) == pool.as_stored(mark["id"], label(ask_for, says(mark)))
        call(studio, "PATCH", f"/api/annotations/{made[0]['id']}/", _annotation(ask_for, marks[0], turned=True))
        other = pool.as_stored(marks[0]["id"], label(ask_for, _turned(ask_for, marks[0])))
        wait_until(lambda: pool.label_of(marks[0]["id"]) == other)
        call(studio, "DELETE", f"/api/annotations/{made[1]['id']}/")
        wait_until(lambda: pool.counts().labels == 2)
        skipped = {"result": [], "was_cancelled": True}
        call(studio, "POST", f"/api/tasks/{tasks[3]['id']}/annotations/", skipped)
        wait_until(lambda: pool.counts().skipped == 1)
    exported = studio.get(f"/api/projects/{project}/export", params={"exportType": "JSON"})
    (tmp_path / "export.json").write_bytes(exported.content)
    events = pool.events
    assert read_annotations(pool, tmp_path / "export.json").known == 3
    assert pool.events == events
    taken = read_annotations(copy, tmp_path / "export.json")
    assert (taken.labels, taken.skips) == (2, 1)
    assert copy.label_of(marks[0]["key"]) == other


def _turned(ask_for: str, mark: dict[str, Any]) -> Any:
    """The opposite of what is right."""
    found = says(mark)
    return "ham" if ask_for == "class" else {answer: 1.0 - grade for answer, grade in found.items()}


def _annotation(ask_for: str, mark: dict[str, Any], *, turned: bool = False) -> dict[str, Any]:
    return {"result": result(ask_for, mark, _turned(ask_for, mark) if turned else says(mark))}
