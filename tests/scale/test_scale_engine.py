"""One function over many batches: results in order whoever worked, and a worker that dies is made up for."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from patience import PATIENCE

from hopgate.errors import HopgateError, UnreachableError
from hopgate.scale.engine import Engine, map_batches, with_shared

TWO = Engine("processes", workers=2)
everywhere = pytest.mark.parametrize("engine", [Engine(), TWO], ids=["local", "processes"])


def doubled(folder: Path, number: int) -> int:
    """Double a number, and die the first time over 3."""
    seen = folder / str(number)
    if number == 3 and not seen.exists():
        seen.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def refused(_: object, number: int) -> int:
    """Refuse 2."""
    if number == 2:
        raise UnreachableError("nobody answers")
    return number


def killed(_: object, number: int) -> int:
    """Die over 2."""
    if number == 2:
        os._exit(1)
    return number


def meeting(folder: Path, number: int) -> int:
    """Wait until another worker is here as well."""
    (folder / str(number)).touch()
    until = time.monotonic() + PATIENCE
    while len(list(folder.iterdir())) < 2:
        assert time.monotonic() < until
        time.sleep(0.01)
    return number


def loading(log: Path) -> Callable[[int], int]:
    """Write down that something was loaded."""
    with log.open("a") as lines:
        lines.write("loaded\n")
    return abs


@everywhere
def test_results_come_in_the_order_of_the_batches(engine, tmp_path):
    log = tmp_path / "log"
    assert list(map_batches(engine, partial(loading, log), range(-20, 0))) == list(range(20, 0, -1))
    assert 1 <= len(log.read_text().splitlines()) <= engine.size()
    assert list(map_batches(engine, partial(loading, log), [])) == []


def test_the_batch_of_a_worker_that_is_killed_is_done_again(tmp_path):
    assert list(map_batches(TWO, with_shared(doubled, tmp_path), range(8))) == list(range(0, 16, 2))


@everywhere
def test_an_error_of_a_worker_is_raised_as_itself(engine):
    results = map_batches(engine, with_shared(refused, None), range(8))
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(UnreachableError, match=r"^nobody answers$"):
        next(results)


def test_a_batch_that_kills_three_workers_ends_the_run_with_its_place():
    results = map_batches(TWO, with_shared(killed, None), range(4), place=lambda number: f"a.jsonl, line {number}")
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(HopgateError, match=r"3 workers died over a\.jsonl, line 2: look"):
        next(results)


def test_batches_are_read_as_they_are_worked_on():
    read: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(100):
            read.append(number)
            yield number

    results = map_batches(TWO, partial(loading, Path(os.devnull)), numbers(), ahead=2)
    next(results)
    assert read == [0, 1, 2, 3]
    results.close()


def test_work_that_cannot_be_sent_and_engines_that_make_no_sense_are_refused():
    with pytest.raises(HopgateError, match="cannot be sent to other processes"):
        next(map_batches(Engine("processes"), lambda: abs, [1]))
    for wrong, reason in (
        ({"name": "dask"}, "not 'dask'"),
        ({"workers": 2}, "one worker: add --engine processes"),
        ({"name": "processes", "workers": 0}, "workers must be"),
    ):
        with pytest.raises(HopgateError, match=reason):
            Engine(**cast("Any", wrong))


def test_a_script_without_a_guard_runs_once_and_nothing_of_the_folder_that_it_is_run_in(tmp_path):
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    (hostile / "contextlib.py").write_text("raise SystemExit")
    script = tmp_path / "script.py"
    script.write_text(
        "from hopgate.scale.engine import Engine, map_batches, with_shared\n"
        "print(list(map_batches(Engine('processes', workers=1), with_shared(pow, 2), [1, 2])))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    made = subprocess.check_output([sys.executable, script], text=True, env=environment, cwd=hostile)
    assert made == "[2, 4]\n"


def test_two_workers_work_at_the_same_time():
    """Each waits for the other: with one at a time the first would wait for ever."""
    with tempfile.TemporaryDirectory() as folder:
        assert list(map_batches(TWO, with_shared(meeting, Path(folder)), range(2))) == [0, 1]
