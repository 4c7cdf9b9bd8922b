"""Kernels that another process compiles: nothing is compiled here, and what is decided does not change."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

import modelpicker as mp
from modelpicker.algorithms.run_modes import CAMPAIGN
from modelpicker.algorithms.runner import runner
from modelpicker.campaigns.background_compiler import BackgroundCompiler
from modelpicker.campaigns.kernel_needs import KernelNeed
from modelpicker.certificates.evidence_kernels import evidence_kernels
from modelpicker.kernels.compiler import CompiledKernel
from modelpicker.kernels.elsewhere import NotCompiledError, compiling_elsewhere, only_loading
from tests.kernels.sites import copy_package

ALGORITHMS: dict[str, dict[str, Any]] = {
    "model-picker": {},
    "race": {},
    "label-efficient": {"probability": 0.5},
    "vote-entropy": {"classes": 4},
    "structural-committee": {"beta": 0.3},
    "importance-weighted": {},
    "efficient-active": {"c0": 0.001},
}


@contextmanager
def nothing_ready(*kernels: CompiledKernel) -> Iterator[None]:
    """As if these had not been compiled yet."""
    before = [kernel.ready for kernel in kernels]
    for kernel in kernels:
        kernel.ready = False
    try:
        yield
    finally:
        for kernel, ready in zip(kernels, before, strict=True):
            kernel.ready = ready


@pytest.mark.parametrize(
    "name",
    [name if name == "model-picker" else pytest.param(name, marks=pytest.mark.slow) for name in ALGORITHMS],
)
def test_a_campaign_goes_on_the_same_when_its_kernels_come(name: str) -> None:
    """Half of it interpreted, the other half compiled: to the last bit what is compiled from the start."""
    rng = np.random.default_rng(3)
    rows = np.where(rng.random((120, 5)) < 0.7, rng.integers(0, 4, (120, 1)), rng.integers(0, 4, (120, 5)))
    found = []
    for switches in (False, True):
        campaign = mp.create_campaign(
            f"memory://switch-{name}-{switches}", name, models=5, algorithm=name, options=ALGORITHMS[name]
        )
        kernels = evidence_kernels()
        play = runner(campaign.settings.stream_kind.kernel, CAMPAIGN).play
        decided: list[mp.Decision] = []
        for start in range(0, len(rows), 20):
            if start in (0, 60):
                campaign.warm_up()
            if switches and start < 60:
                with compiling_elsewhere(), nothing_ready(play, kernels.gather, kernels.read):
                    decided += campaign.ask_many(rows[start : start + 20])
                    tell(campaign, decided[-20:])
                    found_gap = campaign.best().certificate.gap
            else:
                decided += campaign.ask_many(rows[start : start + 20])
                tell(campaign, decided[-20:])
                found_gap = campaign.best().certificate.gap
        pick = campaign.best()
        found.append((decided, found_gap, pick.standing, pick.certificate))
        campaign.close()
    assert found[0] == found[1]


def tell(campaign: mp.Campaign, decided: list[mp.Decision]) -> None:
    for decision in decided:
        if decision.query and decision.id % 3:
            campaign.tell(decision.id, 1)


def test_what_is_not_compiled_is_refused_by_who_only_loads(tmp_path: Path) -> None:
    kernel = CompiledKernel(unheard_of, {}, "nobody's")
    with only_loading(), pytest.raises(NotCompiledError):
        kernel(1.0)
    assert not kernel.ready


def unheard_of(x: float) -> float:
    return x * 1.0009765625 + 3.25


def test_campaigns_that_need_the_same_ask_for_it_once() -> None:
    needs = [
        KernelNeed.of(mp.create_campaign("memory://needs", name, models=models, algorithm=algorithm).settings)
        for name, models, algorithm in (
            ("a", 3, "race"),
            ("b", 20, "race"),
            ("c", 3, "model-picker"),
            ("d", 70, "race"),
        )
    ]
    compiler = BackgroundCompiler()
    for need in needs:
        compiler.want(need)
    assert compiler.waiting == ["model-picker", "race"]
    assert needs[0].key == needs[1].key
    assert needs[0].key != needs[3].key  # the evidence about many models is kept in another way
    assert [KernelNeed.load(need.document()).key for need in needs] == [need.key for need in needs]


COMPILES = """
import json, logging, os, signal, sys, threading, time
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
import modelpicker as mp
from modelpicker.campaigns.background_compiler import BackgroundCompiler
from modelpicker.campaigns.kernel_needs import KernelNeed

def main(kills):
    campaign = mp.create_campaign("memory://one", "one", models=3, algorithm="label-efficient",
                                  options={"probability": 0.5})
    rows = [[0, 1, 1], [1, 1, 0]] * 100
    with BackgroundCompiler() as compiler:
        compiler.want(KernelNeed.of(campaign.settings))
        for _ in range(kills):
            while compiler._child is None:
                time.sleep(0.01)
            child = compiler._child
            time.sleep(0.5)
            child.kill()
            while compiler._child is child:
                time.sleep(0.01)
        campaign.ask_many(rows)
        while compiler.waiting:
            campaign.ask_many(rows)
            campaign.best()
            time.sleep(0.1)
        campaign.ask_many(rows)
        print("ready", "numba" in sys.modules)

main(int(sys.argv[1]))
"""


def environment(site: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(site), "PYTHONPATH": str(site)}


def run(site: Path, kills: int = 0) -> list[str]:
    """What a process prints that has all compiled elsewhere."""
    command = [sys.executable, "-c", COMPILES, str(kills)]
    done = subprocess.run(
        command, env=environment(site), cwd=site, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def compiled_here(lines: list[str]) -> list[str]:
    """What the process says that it compiled itself."""
    return [line for line in lines if "compil" in line and "label-efficient" not in line]


@pytest.mark.slow
def test_another_process_compiles_and_this_one_only_loads(tmp_path: Path) -> None:
    site = copy_package(tmp_path / "site")
    first = run(site)
    assert first[0] == "compiling label-efficient in another process, once on this machine"
    assert first[-1] == "ready True"
    assert not compiled_here(first)
    assert run(site) == ["ready True"]


@pytest.mark.slow
def test_a_compile_process_that_is_killed_is_started_again(tmp_path: Path) -> None:
    lines = run(copy_package(tmp_path / "site"), kills=1)
    assert lines[-1] == "ready True"
    assert not compiled_here(lines)


@pytest.mark.slow
def test_where_no_cache_can_be_written_a_folder_of_its_own_serves(tmp_path: Path) -> None:
    site = copy_package(tmp_path / "site")
    kernels = site / "modelpicker" / "kernels" / "__pycache__"
    kernels.mkdir(exist_ok=True)
    (kernels / "kernels").write_text("no folder")  # permissions do not bind root
    (site / ".cache").write_text("no folder")
    lines = run(site)
    assert lines[-1] == "ready True"
    assert not compiled_here(lines)
    assert (kernels / "kernels").read_text() == "no folder"


@pytest.mark.slow
def test_the_compile_process_ends_with_its_parent(tmp_path: Path) -> None:
    site = copy_package(tmp_path / "site")
    parent = subprocess.Popen([sys.executable, "-c", COMPILES, "0"], env=environment(site), cwd=site)
    children: list[psutil.Process] = []
    stop = time.monotonic() + 60
    while not children and time.monotonic() < stop:
        children = psutil.Process(parent.pid).children()
        time.sleep(0.05)
    assert children
    parent.kill()
    parent.wait()
    gone, alive = psutil.wait_procs(children, timeout=60)
    assert (len(gone), alive) == (1, [])
