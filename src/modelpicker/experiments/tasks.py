"""Work that can be done anywhere: a job that is sent once, and tasks that say which part of it to do."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from modelpicker.algorithms.pools.peers import PoolRun
from modelpicker.experiments.playing import QUERIES, MarkRecord, Player
from modelpicker.experiments.pool_methods import AnyMethod, PoolMethod, PoolPlayer, read_off
from modelpicker.experiments.realizations import Pool, Realization, coins_of, draw, key_of
from modelpicker.kernels.primitives import Floats, Ints

# The streams that methods are judged on, and those that the grid search tunes on.
EVALUATION, TUNING = "evaluation", "tuning"


class ComparisonCell(NamedTuple):
    """A method at one value of its hyperparameter, and a cap: no more than `most` labels are bought.

    A method of pools has no hyperparameter: its value is 0.
    """

    method: str
    value: float
    most: int
    streams: str = EVALUATION


class Task(NamedTuple):
    """Some cells on some realizations, all of the same kind of streams."""

    cells: tuple[ComparisonCell, ...]
    numbers: tuple[int, ...]

    def __str__(self) -> str:
        return f"realization {self.numbers[0]} and its neighbours"

    @property
    def runs(self) -> int:
        """How many runs it is."""
        return len(self.cells) * len(self.numbers)


class Block(NamedTuple):
    """What came of a task: for each cell and realization."""

    asked: npt.NDArray[np.int32]  # labels that the method asked for, bought or not: (cells, realizations)
    records: MarkRecord  # (cells, realizations, marks, fields)


@dataclass(frozen=True)
class Job:
    """Everything that tasks need, whatever process they run in."""

    pool: Pool
    methods: tuple[AnyMethod, ...]
    classes: int
    stream_size: int
    seed: int
    marks: Ints

    def play(self, task: Task) -> Block:
        """Do a task."""
        marks = self.marks_of(task.cells[0].streams)
        players = [self._player(cell, marks) for cell in task.cells]
        records = [list(self._realization(task.cells, players, number)) for number in task.numbers]
        asked = np.array([[one for one, _ in row] for row in records], dtype=np.int32)
        taken = np.array([[record for _, record in row] for row in records])
        return Block(asked.T, taken.swapaxes(0, 1))

    def marks_of(self, streams: str) -> Ints:
        """The rounds after which runs are recorded; tuning needs the last one only."""
        return self.marks if streams == EVALUATION else self.marks[-1:]

    def _player(self, cell: ComparisonCell, marks: Ints) -> Player | PoolPlayer:
        method = next(method for method in self.methods if method.label == cell.method)
        if isinstance(method, PoolMethod):
            return PoolPlayer(method, self.classes)
        return Player(method.make(self.pool.predictions.shape[1], self.classes, cell.value), self.classes, marks)

    def _realization(
        self, cells: Sequence[ComparisonCell], players: Iterable[Player | PoolPlayer], number: int
    ) -> Iterator[tuple[int, MarkRecord]]:
        """The cells on one stream; a method's coins serve all its cells."""
        stream = draw(self.pool, self.stream_size, self.seed, cells[0].streams, number)
        coins: dict[str, Floats] = {}
        runs: dict[str, PoolRun] = {}
        for cell, player in zip(cells, players, strict=True):
            if isinstance(player, PoolPlayer):
                if cell.method not in runs:
                    most = max(other.most for other in cells if other.method == cell.method)
                    key = key_of(self.seed, cell.streams, number, cell.method)
                    runs[cell.method] = player.play(stream, most, key)
                yield read_off(runs[cell.method], stream, cell.most)
            else:
                if cell.method not in coins:
                    coins[cell.method] = coins_of(cell.method, self.stream_size, self.seed, cell.streams, number)
                yield self._stream_run(cell, player, stream, coins[cell.method])

    def _stream_run(
        self, cell: ComparisonCell, player: Player, stream: Realization, coins: Floats
    ) -> tuple[int, MarkRecord]:
        """A method on one stream: the labels that it asked for, and its record.

        What a method would ask for without its cap is a run of its own: labels beyond the cap change what follows.
        """
        record = player.play(stream, coins, self.stream_size)
        asked = int(record[-1, QUERIES])
        return asked, record if asked <= cell.most else player.play(stream, coins, cell.most)
