"""Label Studio's webhook: created, updated and deleted annotations, in every order, from whoever may send them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from modelpicker.errors import InputError
from modelpicker.integrations.annotation_files import read_annotations, write_tasks
from modelpicker.server.access.tokens import create_token
from modelpicker.server.configuration import Configuration
from tests.integrations.annotators import annotated, campaign
from tests.server.servers import Running, serving

SECRET = "a secret of sixteen letters"  # noqa: S105 - of this test
HEADER = {"X-Modelpicker-Secret": SECRET}


class Studio:
    """A project of Label Studio, as its webhook shows it."""

    def __init__(self, server: Running, campaign: Any, folder: Path) -> None:
        self.server, self.campaign = server, campaign
        write_tasks(campaign, folder / f"{campaign.name}.json", "label-studio", count=4)
        self.tasks = json.loads((folder / f"{campaign.name}.json").read_text(encoding="utf-8"))

    def send(self, body: Any) -> list[str]:
        answer = self.server.post(f"/campaigns/{self.campaign.name}/webhooks/label-studio", body, headers=HEADER)
        assert answer.status_code == 200, answer.text
        return [one["result"] for one in answer.json()["outcomes"]]

    def event(self, action: str, task: int, number: int, said: Any, who: int = 1, at: int = 1) -> dict[str, Any]:
        one = annotated(self.tasks[task], self.campaign.settings.ask_for, said, number, who)
        one["updated_at"] = f"2026-11-18T21:15:{at:02d}.000000Z"
        return {"action": action, "annotation": one, "task": {"id": task, **self.tasks[task]}, "project": {"id": 1}}

    def created(self, task: int, number: int, said: Any, **more: Any) -> list[str]:
        return self.send(self.event("ANNOTATION_CREATED", task, number, said, **more))

    def updated(self, task: int, number: int, said: Any, **more: Any) -> list[str]:
        return self.send(self.event("ANNOTATION_UPDATED", task, number, said, **more))

    def deleted(self, *numbers: int) -> list[str]:
        return self.send({"action": "ANNOTATIONS_DELETED", "annotations": [{"id": one} for one in numbers]})

    def label(self, task: int) -> Any:
        return self.campaign.label_of(self.tasks[task]["data"]["modelpicker"]["id"])


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('studio') / 'campaigns.db'}"


@pytest.fixture(scope="module")
def guarded(url: str) -> Iterator[Running]:
    mp.create_campaign(url, "one", models=2)
    with serving(url, label_studio_secret=SECRET) as server:
        yield server


@pytest.fixture
def studio(url: str, guarded: Running, name: str, tmp_path: Path) -> Studio:
    return Studio(guarded, campaign(url, name=name), tmp_path)


def test_an_annotation_is_told_replaced_and_taken_back_and_every_event_counts_once(studio: Studio) -> None:
    assert studio.created(0, 1, "spam") == ["taken"]
    assert studio.created(0, 1, "spam") == ["known"]
    assert studio.label(0) == "spam"
    assert studio.updated(0, 1, "ham", at=3) == ["taken"]
    assert studio.label(0) == "ham"
    assert studio.updated(0, 1, "spam", at=2) == ["stale"]  # it was under way for long
    assert studio.created(0, 1, "spam") == ["stale"]
    assert studio.label(0) == "ham"
    assert studio.deleted(1) == ["removed"]
    assert studio.label(0) is None
    assert studio.deleted(1) == ["ignored"]
    assert studio.created(0, 1, "spam") == ["stale"]  # it is gone
    assert studio.campaign.counts().waiting == 4
    assert studio.created(0, 2, "spam", at=9) == ["taken"]


def test_a_skip_is_a_skip_and_a_label_may_follow_it(studio: Studio) -> None:
    assert studio.created(0, 1, None) == ["taken"]
    assert studio.campaign.counts().skipped == 1
    assert studio.updated(0, 1, "ham", at=2) == ["taken"]
    assert (studio.campaign.counts().skipped, studio.label(0)) == (0, "ham")


def test_somebody_who_disagrees_where_one_person_is_asked_flags_the_item(studio: Studio) -> None:
    assert studio.created(0, 1, "spam", who=1) == ["taken"]
    assert studio.created(0, 2, "spam", who=2) == ["known"]
    assert studio.created(0, 3, "ham", who=3) == ["conflict"]
    assert studio.label(0) == "spam"
    (note,) = studio.campaign.notes()
    assert (note.flagged, note.text) == (True, "In Label Studio label-studio-3 says: ham")
    assert studio.deleted(3, 1) == ["ignored", "removed"]
    assert studio.created(1, 4, "spam", who=1) == ["taken"]
    assert studio.created(1, 5, "ham", who=1, at=2) == ["taken"]  # the same person, again
    assert studio.label(1) == "ham"


def test_people_who_label_the_same_item(url: str, guarded: Running, name: str, tmp_path: Path) -> None:
    studio = Studio(guarded, campaign(url, name=name, overlap=2), tmp_path)
    assert studio.created(0, 1, "spam", who=1) == ["taken"]
    assert studio.label(0) is None
    assert studio.created(0, 2, "spam", who=2) == ["taken"]
    assert studio.label(0) == "spam"
    assert studio.updated(0, 2, "ham", who=2, at=5) == ["taken"]
    assert (studio.label(0), studio.campaign.counts().conflicts) == (None, 1)
    assert studio.created(0, 3, "ham", who=3) == ["conflict"]  # two were asked
    assert studio.deleted(2) == ["removed"]
    assert studio.campaign.counts().conflicts == 0
    assert studio.deleted(2) == ["ignored"]
    number = studio.tasks[0]["data"]["modelpicker"]["id"]
    assert [opinion.by.partition("/")[0] for opinion in studio.campaign.opinions(number)] == ["label-studio-1"]
    assert studio.created(0, 4, "ham", who=2, at=6) == ["taken"]
    studio.campaign.settle(number, "ham", annotator="boss")
    assert studio.updated(0, 1, "ham", who=1, at=7) == ["conflict"]  # an owner has decided
    assert studio.deleted(1) == ["conflict"]
    assert studio.label(0) == "ham"


@pytest.mark.parametrize("ask_for", ["grades", "preference"])
def test_ratings_and_comparisons(url: str, guarded: Running, name: str, tmp_path: Path, ask_for: str) -> None:
    studio = Studio(guarded, campaign(url, ask_for, name=name), tmp_path)
    one, other = studio.tasks[0]["data"]["modelpicker"]["answers"]
    assert studio.created(0, 1, {one: 1.0, other: 0.0}) == ["taken"]
    wanted = mp.Label.better(one, other) if ask_for == "preference" else mp.Label.graded({one: 1, other: 0})
    assert studio.label(0) == studio.campaign.as_stored(studio.tasks[0]["data"]["modelpicker"]["id"], wanted)


def test_a_file_and_the_webhook_know_each_others_annotations(studio: Studio, tmp_path: Path) -> None:
    assert studio.created(0, 1, "spam") == ["taken"]
    task = studio.tasks[0] | {"annotations": [annotated(studio.tasks[0], "class", "spam", 1)]}
    (tmp_path / "export.json").write_text(json.dumps([task]), encoding="utf-8")
    assert read_annotations(studio.campaign, tmp_path / "export.json").known == 1
    task = studio.tasks[1] | {"annotations": [annotated(studio.tasks[1], "class", "spam", 2)]}
    (tmp_path / "export.json").write_text(json.dumps([task]), encoding="utf-8")
    assert read_annotations(studio.campaign, tmp_path / "export.json").labels == 1
    assert studio.deleted(2) == ["removed"]


def test_what_is_none_of_ours_is_ignored(studio: Studio) -> None:
    foreign = studio.event("ANNOTATION_CREATED", 0, 1, "spam")
    foreign["task"] = {"id": 9, "data": {"text": "something else"}}
    assert studio.send(foreign) == ["ignored"]
    unknown = studio.event("ANNOTATION_CREATED", 0, 1, "spam")
    unknown["task"]["data"]["modelpicker"] = {"id": 0, "key": "nobody"}
    assert studio.send(unknown) == ["ignored"]
    assert studio.send({"action": "TASKS_CREATED", "tasks": []}) == []
    bulk = studio.event("ANNOTATIONS_CREATED", 1, 5, "spam")
    bulk["annotation"], bulk["task"] = [bulk["annotation"]], [bulk["task"]]
    assert studio.send(bulk) == ["taken"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"action": 3}, 422),
        ({"action": "ANNOTATION_CREATED"}, 200),
        ({"action": "ANNOTATION_CREATED", "annotation": {"id": 1}}, 422),
        ({"action": "ANNOTATION_CREATED", "annotation": {"result": []}, "task": {}}, 422),
        ({"action": "ANNOTATIONS_DELETED", "annotations": [{}]}, 422),
        ({"action": "ANNOTATIONS_DELETED", "annotations": [{"id": "'; drop"}]}, 200),
    ],
)
def test_what_label_studio_does_not_send(guarded: Running, body: Any, status: int) -> None:
    answer = guarded.post("/campaigns/one/webhooks/label-studio", body, headers=HEADER)
    assert answer.status_code == status, answer.text


def test_a_label_of_another_kind_is_refused(studio: Studio) -> None:
    body = studio.event("ANNOTATION_CREATED", 0, 1, "spam")
    body["annotation"]["result"][0] |= {"type": "rating", "value": {"rating": 3}}
    path = f"/campaigns/{studio.campaign.name}/webhooks/label-studio"
    answer = studio.server.post(path, body, headers=HEADER)
    assert answer.status_code == 422
    assert "asks for a class" in answer.text


def test_only_who_knows_the_secret_or_has_a_token_may_send(url: str, guarded: Running, tmp_path: Path) -> None:
    path, body = "/campaigns/one/webhooks/label-studio", {"action": "TASKS_CREATED"}
    assert guarded.post(path, body).status_code == 401
    for wrong in ("", SECRET[:-1], f"{SECRET}x"):
        assert guarded.post(path, body, headers={"X-Modelpicker-Secret": wrong}).status_code in (401, 429)
    assert guarded.post(path, body, headers=HEADER).status_code == 200  # however many wrong ones came
    assert guarded.post("/campaigns/none/webhooks/label-studio", body, headers=HEADER).status_code == 404
    closed = f"sqlite:///{tmp_path / 'closed.db'}"
    storage = mp.create_campaign(closed, "one", models=2).storage
    given = {role: create_token(storage, role, role) for role in ("owner", "annotator", "reader")}
    with serving(closed, tokens=True) as server:
        statuses = {
            role: server.post(path, body, headers={"Authorization": f"Bearer {token}"}).status_code
            for role, token in given.items()
        }
        assert statuses == {"owner": 200, "annotator": 200, "reader": 403}
        assert server.post(path, body, headers=HEADER).status_code == 401
    with serving(url) as server:  # whoever reaches an open server may label, but no web page of others may
        assert "MODELPICKER_LABEL_STUDIO_SECRET" in server.post(path, body).json()["detail"]


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(InputError, match="at least 16"):
        Configuration("memory://x", label_studio_secret=SECRET[:15]).check()
