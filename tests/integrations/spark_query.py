"""A Structured Streaming query in a process of its own, which can be told to die at a moment in a batch.

    python -m tests.integrations.spark_query FOLDER [MOMENT BATCH]

FOLDER has `rows` (Parquet, one file per batch), `picker.db` with the campaign "rows", and gets `decisions` and
`checkpoint`. MOMENT is when it dies: the rows were `chosen`, `asked` about, their decisions `written`, or the batch
`returned`. The whole process group is killed: Python and Java, with the signal that cannot be caught.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any


def die(*_: Any) -> None:
    """End this process and the Java one, at once."""
    os.killpg(os.getpgid(0), signal.SIGKILL)


def main(folder: Path, moment: str = "", batch: int = -1) -> None:
    """Play all rows that are there."""
    from pyspark.sql import SparkSession

    from modelpicker.integrations import spark

    sink = spark.foreach_batch(f"sqlite:///{folder}/picker.db", "rows", folder / "decisions", key="id")
    now = -1

    def each(rows: Any, number: int) -> None:
        nonlocal now
        now = number
        sink(rows, number)
        if moment == "returned" and number == batch:
            die()

    before, after = {"asked": "write_decisions", "chosen": "_write_choice"}, {"written": "write_decisions"}
    for name, early in ((before.get(moment), True), (after.get(moment), False)):
        if name is not None:
            real = getattr(spark, name)

            def fatal(*given: Any, real: Any = real, early: bool = early, **named: Any) -> None:
                if early and now == batch:
                    if moment == "chosen":
                        real(*given, **named)
                    die()
                real(*given, **named)
                if now == batch:
                    die()

            setattr(spark, name, fatal)
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.memory", "1g")
        .getOrCreate()
    )
    rows = folder / "rows"
    schema = session.read.parquet(str(rows)).schema
    stream = session.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(rows))
    query = (
        stream.writeStream.foreachBatch(each)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    try:
        query.awaitTermination()
    finally:
        session.stop()


if __name__ == "__main__":
    death = (sys.argv[2], int(sys.argv[3])) if len(sys.argv) > 2 else ("", -1)
    main(Path(sys.argv[1]), *death)
