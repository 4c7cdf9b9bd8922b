"""Pools of files larger than memory: the same pick, to the last bit, as of the same rows in one file."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import modelpicker as mp
from modelpicker.collections import partitions
from modelpicker.collections.partitions import Partition, PartitionFound, PartitionScan, hash_ids
from modelpicker.collections.scanned import ScannedCollection
from modelpicker.collections.table_files import files_of_folder, open_files
from modelpicker.errors import ConflictError, InputError, NotFoundError

CLASSES = ["ant", "bee", "cat", "dog"]
ITEMS = 3_000


def table(items: int = ITEMS, seed: int = 3, **more: Any) -> pa.Table:
    """Items with an id, five models and a label."""
    made = mp.synthetic_collection(items, 5, 4, [0.9, 0.86, 0.8, 0.7, 0.6], seed=seed)
    names = np.array([*CLASSES, None], dtype=object)
    columns = {"id": [f"item {number}" for number in range(items)]}
    columns |= {name: names[made.predictions[:, place]].tolist() for place, name in enumerate(made.models)}
    return pa.table({**columns, "label": names[made.labels].tolist(), **more})


def split(whole: pa.Table, folder: Path, files: int = 4, groups: int = 200) -> Path:
    """The rows of a table in several files, each with several row groups."""
    folder.mkdir()
    size = -(-whole.num_rows // files)
    for number in range(files):
        part = whole.slice(number * size, size)
        parquet.write_table(part, folder / f"part-{number}.parquet", row_group_size=groups)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files, and beside it one file of the same rows."""
    place = tmp_path_factory.mktemp("large")
    parquet.write_table(table(), place / "one.parquet")
    return split(table(), place / "many")


@pytest.fixture(scope="module")
def alone(folder: Path) -> mp.Pick:
    """What is picked from one file."""
    return mp.pick(folder.with_name("one.parquet"), tolerance=0.03)


@pytest.mark.parametrize("source", ["many", "many/*.parquet", "one.parquet"])
def test_scanned_files_give_the_pick_of_one_file(folder: Path, alone: mp.Pick, source: str) -> None:
    assert mp.pick(folder.parent / source, tolerance=0.03, engine="threads", workers=2) == alone


def test_a_folder_is_read_as_one_file_without_an_engine(folder: Path, alone: mp.Pick) -> None:
    assert mp.pick(folder, tolerance=0.03) == alone
    assert mp.load_collection(folder) == mp.load_collection(folder.with_name("one.parquet"))


def test_labels_from_elsewhere_are_looked_up_by_id(folder: Path, tmp_path: Path) -> None:
    known = table()
    bare = split(known.drop_columns(["label"]), tmp_path / "bare")
    told = dict(zip(known["id"].to_pylist(), known["label"].to_pylist(), strict=True))
    parquet.write_table(known.select(["id", "label"]).sort_by("id"), tmp_path / "labels.parquet")
    seen = []

    def ask(item: dict[str, Any]) -> str:
        seen.append(item["item"])
        return str(told[item["id"]])

    parquet.write_table(known.drop_columns(["label"]), tmp_path / "one.parquet")
    expected = mp.pick(tmp_path / "one.parquet", told, tolerance=0.03)
    for labels in (told, tmp_path / "labels.parquet", ask, known["label"].to_pylist()):
        assert mp.pick(bare, labels, tolerance=0.03, engine="threads") == expected
    assert len(seen) == expected.labels_used


@pytest.mark.parametrize("missing", ["abstained", "not-run"])
def test_missing_answers_count_as_in_one_file(tmp_path: Path, missing: Any) -> None:
    whole = table()
    draw = np.random.default_rng(5)
    for name in ("model-1", "model-3"):
        cells = [None if draw.random() < 0.1 else cell for cell in whole[name].to_pylist()]
        whole = whole.set_column(whole.schema.get_field_index(name), name, pa.array(cells, pa.string()))
    none = [[None]] * 5
    empty = pa.table({"id": ["nobody"], **{f"model-{at}": pa.array(none[at], pa.string()) for at in range(5)}})
    whole = pa.concat_tables([whole, empty.append_column("label", pa.array(["ant"]))])
    parquet.write_table(whole, tmp_path / "one.parquet")
    many = split(whole, tmp_path / "many")
    expected = mp.pick(tmp_path / "one.parquet", budget=40, missing=missing)
    assert mp.pick(many, budget=40, missing=missing, engine="threads") == expected


def test_classes_do_not_depend_on_the_order_in_which_parts_are_done(folder: Path) -> None:
    def scanned(order: int) -> ScannedCollection:
        def scan(job: PartitionScan, parts: Any) -> Iterator[tuple[Partition, PartitionFound]]:
            for part in np.random.default_rng(order).permutation(len(parts)).tolist():
                yield parts[part], job.play(parts[part])

        from modelpicker.collections.column_roles import Reading

        return ScannedCollection(open_files(folder, files_of_folder(folder)), Reading(), scan)

    first = scanned(1)
    whole = mp.load_collection(folder.with_name("one.parquet"))
    assert len(first.parts) == 4
    for found in (first, scanned(2)):
        assert found.classes == whole.classes
        np.testing.assert_array_equal(found.kept.rows(np.arange(ITEMS)), whole.predictions)
        assert found.items.fingerprint == first.items.fingerprint


def test_csv_cells_that_are_numbers_only_when_all_files_are_seen(tmp_path: Path) -> None:
    (tmp_path / "many").mkdir()
    (tmp_path / "many" / "a.csv").write_text("m,n,label\n" + "1,1.0,1\n1, 2,1\n2,2,2\n" * 40)
    (tmp_path / "many" / "b.csv").write_text("n,m,label\n" + "x,1,1\n2,2,2\n" * 40)
    with pytest.raises(InputError, match=r"b\.csv.*'x' is not a whole number"):
        mp.pick(tmp_path / "many", engine="threads")
    (tmp_path / "many" / "b.csv").write_text("n,m,label\n" + "3,1,1\n2,2,2\n" * 40)
    found = mp.pick(tmp_path / "many", engine="threads", tolerance=0.1)
    assert found == mp.pick(tmp_path / "many", tolerance=0.1)
    assert found.rounds == 200


@pytest.mark.parametrize("kind", ["parquet", "csv", "arrow"])
def test_one_file_of_any_table_kind_may_be_scanned(tmp_path: Path, kind: str) -> None:
    whole, path = table(500), tmp_path / f"one.{kind}"
    if kind == "parquet":
        parquet.write_table(whole, path)
    elif kind == "csv":
        csv.write_csv(whole, path)
    else:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, whole.schema) as writer:
            writer.write_table(whole)
    assert mp.pick(path, engine="threads", tolerance=0.05) == mp.pick(path, tolerance=0.05)


def test_models_that_always_agree_leave_nothing_to_ask(tmp_path: Path) -> None:
    rows = pa.table({"m": ["a", "b"] * 50, "n": ["a", "b"] * 50, "label": ["a", "b"] * 50})
    many = split(rows, tmp_path / "many")
    found = mp.pick(many, engine="threads")
    assert found == mp.pick(many)
    assert found.labels_used == 0


def test_empty_parts_are_no_error_and_empty_files_are(tmp_path: Path) -> None:
    many = split(table(), tmp_path / "many")
    parquet.write_table(table().slice(0, 0), many / "part-9.parquet")
    assert mp.pick(many, engine="threads", budget=5).rounds == ITEMS
    (many / "part-8.parquet").write_bytes(b"")
    with pytest.raises(InputError, match=r"part-8\.parquet is empty"):
        mp.pick(many, engine="threads", budget=5)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    many = split(table(), tmp_path / "many")
    content = bytearray((many / "part-2.parquet").read_bytes())
    content[100:400] = bytes(300)
    (many / "part-2.parquet").write_bytes(content)
    with pytest.raises(InputError, match=r"part-2\.parquet is damaged"):
        mp.pick(many, engine="threads", budget=5)


def test_files_that_do_not_belong_together_are_named(tmp_path: Path) -> None:
    many = split(table(), tmp_path / "many")
    parquet.write_table(table().drop_columns(["model-2"]), many / "part-5.parquet")
    with pytest.raises(InputError, match=r'part-5\.parquet has no column "model-2"'):
        mp.pick(many, engine="threads")
    (many / "part-5.parquet").unlink()
    csv.write_csv(table(), many / "part-6.csv")
    with pytest.raises(InputError, match=r"part-0\.parquet is Parquet, but .*part-6\.csv is CSV"):
        mp.pick(many, engine="threads")


def test_an_id_in_two_files_is_an_error_that_names_both(tmp_path: Path) -> None:
    many = split(table(), tmp_path / "many")
    parquet.write_table(table(10).slice(4, 1), many / "part-7.parquet")
    with pytest.raises(InputError, match=r"'item 4' is in .*0\.parquet, row 5 and in .*7\.parquet, row 1"):
        mp.pick(many, engine="threads")


def test_ids_have_the_same_hash_as_text_and_as_numbers() -> None:
    texts = ["", "7", "item 12", "item 21", "x" * 200, "x" * 201, "müßig"]
    hashes = hash_ids(pa.array(texts)).tolist()
    assert len(set(hashes)) == len(texts)
    assert hash_ids(pa.array(texts)[2:]).tolist() == hashes[2:]
    assert hash_ids(pa.array([7], pa.int64())).tolist() == [hashes[1]]
    assert hash_ids(pa.array(texts).dictionary_encode()).tolist() == hashes


def test_no_file_of_a_pattern_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no file has such a name"):
        mp.pick(tmp_path / "*.parquet", engine="threads")


def test_a_file_that_changes_between_scan_and_question_is_an_error(tmp_path: Path) -> None:
    many = split(table(), tmp_path / "many")

    def rewrite(item: dict[str, Any]) -> str:
        for path in many.iterdir():
            content = path.read_bytes()
            time.sleep(0.01)
            path.write_bytes(content)
        return "ant"

    with pytest.raises(ConflictError, match="has changed since it was scanned"):
        mp.pick(many, rewrite, engine="threads")


@pytest.mark.parametrize(
    "more", [{"judge": "model-1"}, {"warm": [None]}, {"slice": "id"}, {"same": "normalised"}, {"setting": "stream"}]
)
def test_what_needs_all_items_is_refused(folder: Path, more: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="needs all items in memory"):
        mp.pick(folder, engine="threads", **more)


def test_a_pool_of_scanned_files_knows_what_one_in_memory_knows(folder: Path) -> None:
    from modelpicker.campaigns.offline_large import scan_items
    from modelpicker.collections.column_roles import Reading
    from modelpicker.experiments.engines import Workforce

    items = scan_items(folder, Reading(), Workforce("threads", 2))
    pools = [
        mp.PoolPicker(source, tolerance=0.03, audit=0.2)
        for source in (items, mp.load_collection(folder.with_name("one.parquet")))
    ]
    for pool in pools:
        mp.run_pool(pool, budget=60)
        agreed = next(item for item in range(ITEMS) if pool._place(item) < 0)
        pool.tell(agreed, "dog")
    scanned, whole = pools
    assert scanned.accuracy() == whole.accuracy()
    assert scanned.macro_f1() == whole.macro_f1()
    assert scanned.standing == whole.standing
    blob = scanned.state_dict()
    assert mp.PoolPicker.from_state_dict(blob, items).state_dict() == blob


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of Dask's own, such as ports that are taken
def test_dask_gives_the_same_pick_if_workers_are_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import LocalCluster

    monkeypatch.setattr(partitions, "PART_CELLS", 10_000)
    whole = table(400_000)
    parquet.write_table(whole, tmp_path / "one.parquet")
    many = split(whole, tmp_path / "many", files=8, groups=2_000)
    expected = mp.pick(tmp_path / "one.parquet", tolerance=0.03)
    killed: list[int] = []
    done = threading.Event()
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster:
        address = cluster.scheduler_address
        assert mp.pick(many, tolerance=0.03, engine="dask", scheduler=address) == expected

        def kill_now_and_then() -> None:
            while not done.wait(0.7) and len(killed) < 3:
                workers = [worker for worker in cluster.workers.values() if getattr(worker, "pid", None)]
                if workers:
                    killed.append(workers[len(killed) % len(workers)].pid)
                    os.kill(killed[-1], signal.SIGKILL)

        killer = threading.Thread(target=kill_now_and_then)
        killer.start()
        try:
            assert mp.pick(many, tolerance=0.03, engine="dask", scheduler=address) == expected
        finally:
            done.set()
            killer.join()
    assert killed
