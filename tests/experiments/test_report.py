"""Figures and report: what they say, and that nothing in them can do harm or needs anybody else."""

import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.experiments.figures import (
    LOOKS,
    Section,
    draw_figures,
    looks_of,
    paper_sheets,
    save_sheets,
    sheets_of,
)
from modelpicker.experiments.labels_needed import Outcomes, factor, labels_needed
from modelpicker.experiments.plan import plan_comparison
from modelpicker.experiments.report import write_report
from modelpicker.experiments.setups import find_setups, read_setups
from tests.experiments.test_playing import collection

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=document.title='owned'>"


@pytest.fixture(scope="module")
def results() -> mp.Results:
    methods: list[Any] = ["importance-weighted", "efficient-active", mp.Method(HOSTILE, mp.ModelPicker)]
    return mp.compare(collection(), methods, [20, 60], 200, realizations=20)


def words_of(figure: Any) -> str:
    """Every text in a figure."""
    from matplotlib.text import Text

    return " ".join(found.get_text() for found in figure.findobj(Text))


def test_every_figure_names_the_budget_rule(results: mp.Results) -> None:
    section = Section("here", results, 60)
    sheets = {**sheets_of(section), **paper_sheets({"cifar10": section, "cifar10-v2": section})}
    assert len(sheets) > len(sheets_of(section)) > 3
    for name, sheet in sheets.items():
        assert "budget rule: expected" in " ".join(words_of(draw_figures(sheet)).split()), name


def test_every_figure_names_the_stand_in(results: mp.Results) -> None:
    results = replace(results, settings=_stand_in(results.settings))
    section = Section("here", results, 60)
    sheets = {**sheets_of(section), **paper_sheets({"emocontext": section})}
    assert len(sheets) > len(sheets_of(section)) > 3
    for name, sheet in sheets.items():
        assert "STAND-IN: synthetic x" in " ".join(words_of(draw_figures(sheet)).split()), name


def _stand_in(settings: dict[str, Any]) -> dict[str, Any]:
    return {**settings, "collection": {**settings["collection"], "stand_in": "synthetic x: no data"}}


def test_methods_can_be_told_apart_without_colour() -> None:
    looks = looks_of([*LOOKS, "a", "b"])
    assert len({look.marker for look in looks.values()}) == len(looks)
    assert len({str(look.line) for look in LOOKS.values()}) == len(LOOKS)
    lightness = sorted(sum(int(look.colour[i : i + 2], 16) for i in (1, 3, 5)) for look in LOOKS.values())
    assert len(set(lightness)) == len(LOOKS)


def test_figures_are_written_as_png_and_svg(results: mp.Results, tmp_path: Path) -> None:
    paths = save_sheets({"one": sheets_of(Section("$here$", results, 60))["identification"]}, tmp_path)
    assert [path.name for path in paths] == ["one.png", "one.svg"]
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    first = paths[1].read_text()
    save_sheets({"one": sheets_of(Section("$here$", results, 60))["identification"]}, tmp_path)
    assert paths[1].read_text() == first


class Links(HTMLParser):
    """Everything that a page would load, and its tags."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.found += [str(value) for name, value in attributes if name in ("src", "href", "onerror", "onload")]


def test_the_report_needs_nothing_else_and_does_what_it_is_told_by_nobody(
    results: mp.Results, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    write_report(path, HOSTILE, [Section(HOSTILE, results, 60)], {}, f"modelpicker compare '{HOSTILE}'")
    links = Links()
    links.feed(path.read_text())
    assert not links.found
    assert links.tags.count("script") == 2
    assert "img" not in links.tags
    text = path.read_text()
    assert len(text.encode()) < 1_000_000
    for fact in ("seed", results.settings["collection"]["fingerprint"], mp.__version__, "Budget rule: expected."):
        assert str(fact) in text
    assert text.count("Budget rule: expected.") >= 7


@pytest.mark.slow
def test_the_report_in_a_real_browser(results: mp.Results, tmp_path: Path) -> None:
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("NO BROWSER: install Chromium to see the report drawn")
    path = tmp_path / "report.html"
    write_report(path, HOSTILE, [Section(HOSTILE, results, 60)], {}, HOSTILE)
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/profile", "--dump-dom"]
    done = subprocess.run(
        [browser, *flags, "--virtual-time-budget=8000", path.as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    drawn = re.findall(r'class="plot js-plotly-plot" id="plot-0-([a-z0-9_]+)"', done.stdout)
    assert len(drawn) == 6
    assert 'data-title="Download plot' in done.stdout
    assert 'data-title="Share chart' not in done.stdout
    assert "<title>owned" not in done.stdout
    assert re.search(r"<title>[^<]*&lt;/script&gt;", done.stdout)


def test_labels_needed_by_hand() -> None:
    labels, hits = np.array([10.0, 20.0, 30.0, 40.0]), np.array([0.5, 0.9, 0.7, 1.0])
    assert labels_needed(labels, hits, 0.5) == 10.0
    assert labels_needed(labels, hits, 0.8) == 20.0  # 0.9 and 0.7 are taken for 0.8 each
    assert labels_needed(labels, hits, 0.9) == 35.0
    assert labels_needed(labels, np.full(4, 0.5), 0.6) == np.inf
    assert labels_needed(labels[::-1], hits[::-1], 0.9) == 35.0


def test_one_cell_that_serves_many_budgets_counts_once() -> None:
    labels, hits = np.array([100.0, 140.0, 142.0]), np.array([0.7, 0.93, 0.90])
    assert labels_needed(labels, hits, 0.91) == pytest.approx(
        labels_needed(labels[[0, 1, 2, 2, 2]], hits[[0, 1, 2, 2, 2]], 0.91)
    )


def test_what_the_smallest_budget_is_enough_for_is_said() -> None:
    budgets = np.broadcast_to(np.array([10, 20], dtype=np.int32), (30, 2))
    good = Outcomes(budgets, np.zeros((30, 2), dtype=np.int32))
    found = factor({"a": good, "b": good}, "a", 0.9)
    assert found.sentence.endswith("(the smallest budget is enough for a and b)")


def test_few_realizations_give_no_interval() -> None:
    budgets = np.broadcast_to(np.array([10, 20], dtype=np.int32), (5, 2))
    good = Outcomes(budgets, np.zeros((5, 2), dtype=np.int32))
    assert factor({"a": good, "b": good}, "a", 0.9).interval == "no interval"
    none = Outcomes(np.zeros((30, 1), dtype=np.int32), np.zeros((30, 1), dtype=np.int32))
    assert np.isnan(factor({"a": none, "b": none}, "a", 0.9).factor)


@pytest.mark.slow
def test_the_interval_of_a_factor_covers_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two methods whose curves are known: the truth is 2; of 60 intervals at 95 %, at least 50 must hold it.

    Fewer than 50 of 60 would have a probability of 0.0003 at 95 %; the seeds are fixed.
    """
    monkeypatch.setattr("modelpicker.experiments.labels_needed.RESAMPLES", 200)
    budgets = np.arange(10, 210, 10)
    covered = 0
    for seed in range(60):
        draws = np.random.default_rng(seed)
        outcomes = {}
        for name, speed in (("fast", 60.0), ("slow", 120.0)):
            chance = np.minimum(1.0, budgets / speed * 0.8)
            gaps = (draws.random((200, len(budgets))) >= chance).astype(np.int32)
            outcomes[name] = Outcomes(np.broadcast_to(budgets, gaps.shape).astype(np.int32), gaps)
        found = factor(outcomes, "fast", 0.8, seed)
        covered += found.low <= 2.0 <= found.high
        assert found.rival == "slow"
    assert covered >= 50


def test_factors_where_somebody_never_gets_there(results: mp.Results) -> None:
    budgets = np.broadcast_to(np.array([10, 20], dtype=np.int32), (30, 2))
    never, always = np.ones((30, 2), dtype=np.int32), np.zeros((30, 2), dtype=np.int32)
    good, bad = Outcomes(budgets, always), Outcomes(budgets, never)
    assert factor({"a": good, "b": bad}, "a", 0.9).sentence == "no other method reaches 90%; a needs 10 labels"
    assert factor({"a": bad, "b": good}, "a", 0.9).sentence == "a does not reach 90%"
    assert factor({"a": bad, "b": bad}, "a", 0.9).document()["factor"] is None
    assert factor({"a": good}, "a", 0.9).rival is None
    with pytest.raises(mp.InputError, match="was not compared"):
        results.factor(0.9)
    with pytest.raises(mp.InputError, match="is not a probability"):
        results.labels_needed(90)
    with pytest.raises(mp.InputError, match="there is no row of 'magic' at 20"):
        results.row("magic", 20)


def test_the_set_ups_are_those_of_the_paper() -> None:
    setups = read_setups()
    assert list(setups) == ["emocontext", "drift", "cifar10", "cifar10-v2", "imagenet"]
    assert [setup.stream_size for setup in setups.values()] == [1000, 2500, 5000, 5000, 10000]
    assert {setup.realizations for setup in setups.values()} == {500}
    assert [len(setup.budgets) for setup in setups.values()] == [10, 20, 12, 12, 15]
    assert [setup.regret_budget for setup in setups.values()] == [130, 1000, 1250, 1250, 1200]
    assert [len(setup.methods) for setup in setups.values()] == [6, 5, 6, 5, 5]
    for setup in setups.values():
        assert setup.regret_budget in setup.budgets
        scales = {method.label: method.options for method in setup.methods}
        assert "disagreement_scale" in scales["structural-committee"]
    assert len(find_setups("all")) == 5


def test_a_stand_in_has_the_shape_of_what_it_stands_for() -> None:
    for setup in find_setups("all")[:2]:
        plan, why = setup.plan(None, 5, 0, "expected", "search")
        assert plan.facts["name"] == setup.name
        assert plan.facts["stand_in"] == f"synthetic {setup.stand_in}, with the recorded accuracies"
        assert "no --data was given" in str(why)
        assert plan.job.stream_size == setup.stream_size


def test_plans_are_known_by_their_digits() -> None:
    one = plan_comparison(collection(), budgets=[10])
    assert one.digits == plan_comparison(collection(), budgets=[10]).digits
    assert one.digits != plan_comparison(collection(), budgets=[11]).digits
