"""The long form of tests/reliability: `make soak`, or `python tests/reliability/soak.py faults races load …`.

It ends with a table of its figures, and with status 1 where one of them is not what docs/reliability.md promises.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import itertools
import logging
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg

sys.path.extend([str(Path(__file__).parents[1] / name) for name in ("", "reliability", "sources")])

from fuzz_targets import fuzz_all
from reliability.canary import Search
from reliability.faults import Count, in_child, walked
from reliability.load import load
from reliability.oracle import broken
from reliability.races import race, writers
from reliability.world import Databases, commands
from word_endpoint import serving

import hopgate
from hopgate.store.server import EmbeddedServer

Rows = Iterator[tuple[str, str, bool]]


def faults(options: argparse.Namespace, server: EmbeddedServer, specs: tuple[str, str]) -> Rows:
    """Kill every command at all its boundaries, and at points between them until there are enough."""
    databases, total = Databases(server.dsn, specs[0]), Search()
    for command in commands(*specs):
        if options.only and command.name not in options.only:
            continue
        way, expected = walked(command, databases)
        between = sorted(set(range(way.points)) - set(way.boundaries))
        order = [*way.boundaries, *between[:: max(1, len(between) // options.kills)]]
        count = Count()
        # Where threads race a run has a point more or less: the last may not be reached, and another takes its place.
        enough = max(options.kills, len(way.boundaries))
        for point in itertools.islice(itertools.cycle(order), 2 * enough):
            if count.kills >= enough:
                break
            with databases.of(command.state) as dsn:
                if in_child(command, dsn, point):
                    count.judge(command, dsn, point, way, expected)
        told = f"{len(way.boundaries)} boundaries, {way.points} points, {count.kills} kills"
        good = count.torn == count.lost == 0 and count.kills >= options.kills
        yield (
            f"faults: {command.name}",
            f"{told}, {count.torn} torn, {count.lost} lost {count.examples[:2] or ''}",
            good,
        )
        total.words, total.places = total.words + count.search.words, total.places + count.search.places
        total.found += count.search.found
    told = f"{total.words:,} times a word of a memory that was gone or sensitive, {total.places:,} places searched"
    yield "canaries", f"{told}, {len(total.found)} found {total.found[:3] or ''}", not total.found
    databases.close()


def races(options: argparse.Namespace, server: EmbeddedServer, specs: tuple[str, str]) -> Rows:
    """Race every pair of writers, the first paused before each of its locks."""
    databases, known = Databases(server.dsn, specs[0]), writers(*specs)
    for one, work in known.items():
        if options.only and one not in options.only:
            continue
        total = conflicts = 0
        wrong: list[str] = []
        for other, against in known.items():
            pause, locks = 0, 1
            while pause < locks:
                with databases.of("grown") as dsn:
                    raced = race(dsn, work, against, pause)
                total, conflicts, locks = total + 1, conflicts + raced.conflicts, raced.locks
                wrong += [f"before its lock {pause}, against {other}: {error}" for error in raced.errors]
                pause += options.stride
        told = f"{len(known)} pairs, {total} races, {conflicts} began again, {len(wrong)} errors {wrong[:3] or ''}"
        yield f"races: {one}", told, not wrong
    databases.close()


def loads(options: argparse.Namespace, server: EmbeddedServer, specs: tuple[str, str]) -> Rows:
    """Many clients on an embedded server, and on one that is reached by its address as another user."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        store = Path(folder) / "store"
        with hopgate.open(store) as kb:
            kb.add(hopgate.Memory("first", "Immich runs on cedar."))
            kb.embed(specs[0])
            kb.build()
            (Path(folder) / "a").mkdir()
            found = load(store, kb.store.dsn, options.clients, options.seconds, specs[0], Path(folder) / "a")
            yield from _loaded("embedded", options, found)
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            connection.execute("CREATE ROLE loading SUPERUSER LOGIN")
            connection.execute("CREATE DATABASE loaded OWNER loading")
        dsn = server.dsn.replace("user=hopgate dbname=postgres", "dbname=loaded user=loading")
        with hopgate.open(dsn, upgrade=True) as kb:
            kb.add(hopgate.Memory("first", "Immich runs on cedar."))
            kb.embed(specs[0])
            kb.build()
        (Path(folder) / "b").mkdir()
        found = load(dsn, dsn, options.clients, options.seconds, specs[0], Path(folder) / "b")
        yield from _loaded("by its address", options, found)


def _loaded(where: str, options: argparse.Namespace, found: dict[str, object]) -> Rows:
    told = ", ".join(f"{found[name]} {name}" for name in ("operations", "errors", "lost", "facts twice", "deadlocks"))
    good = not (found["errors"] or found["lost"] or found["facts twice"] or found["broken"])
    problems = "" if good else f" {found['examples']} {found['broken']}"
    yield f"{options.clients} clients × {options.seconds:.0f} s, {where}", told + problems, good


def fuzzed(options: argparse.Namespace, server: EmbeddedServer, _: tuple[str, str]) -> Rows:
    """Mutated inputs for every reader, and for the command line."""
    workers = os.cpu_count() or 1
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        for number in range(workers):
            connection.execute(f"CREATE DATABASE fuzzed_{number}")
    dsns = [server.dsn.replace("dbname=postgres", f"dbname=fuzzed_{number}") for number in range(workers)]
    share = -(-options.inputs // workers)
    with concurrent.futures.ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        seeds = range(options.seed, options.seed + workers)
        found = list(pool.map(fuzz_all, itertools.repeat(share), seeds, dsns))
    for name in found[0]:
        each = [one[name] for one in found]
        inputs, refused = sum(one.inputs for one in each), sum(one.refused for one in each)
        wrong = [text for one in each for text in (*one.tracebacks, *one.hangs)]
        tracebacks, hangs = (sum(len(getattr(one, kind)) for one in each) for kind in ("tracebacks", "hangs"))
        told = f"{inputs:,} inputs, {refused:,} refused, {tracebacks} tracebacks, {hangs} hangs"
        yield f"fuzz: {name}", f"{told} {wrong[:1] or ''}", not wrong
    yield "fuzz", f"{sum(one.inputs for part in found for one in part.values()):,} inputs", True


def tested(*arguments: str, **environ: str) -> subprocess.Popen[str]:
    """A file of the suite in its long form."""
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "", *arguments],
        env={**os.environ, "HOPGATE_SOAK": "1", **environ}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def scopes(options: argparse.Namespace, _: EmbeddedServer, __: tuple[str, str]) -> Rows:
    """Worlds of two scopes, each process with its own seed; they are counted as Hypothesis saw them."""
    workers = os.cpu_count() or 1
    file = str(Path(__file__).with_name("test_reliability_scopes.py"))
    share = str(-(-options.worlds // workers))
    running = [
        tested(file, "--hypothesis-show-statistics", f"--hypothesis-seed={seed}", HOPGATE_SOAK_WORLDS=share)
        for seed in range(options.seed, options.seed + workers)
    ]
    said = [one.communicate()[0] for one in running]
    worlds = sum(int(count) for text in said for count in re.findall(r"(\d+) passing", text))
    problems = [text[-2000:] for one, text in zip(running, said, strict=True) if one.returncode]
    told = f"{worlds:,} worlds of two scopes, {len(problems)} of {workers} runs saw a difference"
    yield "scopes", f"{told} {problems or ''}", not problems and worlds >= options.worlds


def linear(_: argparse.Namespace, __: EmbeddedServer, ___: tuple[str, str]) -> Rows:
    """Every reader on texts four times as long."""
    running = tested(str(Path(__file__).with_name("test_reliability_linear.py")))
    said = running.communicate()[0]
    told = f"16 readers × 62 texts: {said.strip().splitlines()[-1]}"
    yield "linear", f"{told} {said[-2000:] if running.returncode else ''}", not running.returncode


def disks(options: argparse.Namespace, _: EmbeddedServer, __: tuple[str, str]) -> Rows:
    """A disk that fills up while memories come in: one sentence, and nothing torn once there is room again."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200m", "tmpfs", folder], check=False)
        if mounted.returncode:
            yield "a full disk", "not tried: this user may not mount one", True
            return
        said: list[str] = []
        wrong: list[str] = []
        try:
            with hopgate.open(Path(folder) / "store") as kb:
                kb.add(hopgate.Memory("first", "Immich runs on cedar."))
                kb.build()
                for round_ in range(5):
                    balloon = Path(folder) / "balloon"
                    with contextlib.suppress(OSError), balloon.open("wb") as file:
                        while True:
                            file.write(bytes(1 << 16))
                    try:
                        kb.load(hopgate.Memory(f"r{round_}-{n}", f"Note {n}. " * 400) for n in range(20_000))
                        wrong.append("the disk was never full")
                    except hopgate.HopgateError as error:
                        said.append(str(error))
                    balloon.unlink()
                    wrong += [] if kb.get("first") else ["the first memory is gone"]
                    kb.add(hopgate.Memory(f"after {round_}", "Redis runs on alder."))
                    kb.build()
                    with psycopg.connect(kb.store.dsn) as connection:
                        wrong += [f"{name}: {rows}" for name, rows in broken(connection).items()]
        finally:
            subprocess.run(["umount", "--lazy", folder], check=False)
        wrong += [text for text in said if "\n" in text]
        yield "a full disk", f"{len(said)} times full, {len(wrong)} wrong {wrong[:2] or said[:1]}", not wrong


SECTIONS: dict[str, Callable[[argparse.Namespace, EmbeddedServer, tuple[str, str]], Rows]] = {
    "faults": faults,
    "races": races,
    "load": loads,
    "disk": disks,
    "fuzz": fuzzed,
    "scopes": scopes,
    "linear": linear,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", default=list(SECTIONS), help=", ".join(SECTIONS))
    parser.add_argument("--kills", type=int, default=100, help="kills of each command, at least")
    parser.add_argument("--only", nargs="*", help="only these commands or writers")
    parser.add_argument("--stride", type=int, default=1, help="pause before every so-manieth lock")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--inputs", type=int, default=1_000_000, help="fuzzed inputs")
    parser.add_argument("--worlds", type=int, default=2000, help="worlds of two scopes")
    parser.add_argument("--seed", type=int, default=0, help="of the worlds and of the fuzzed inputs")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable()
    rows: list[tuple[str, str, bool]] = []
    with tempfile.TemporaryDirectory() as folder, serving() as first, serving("others") as second:
        server = EmbeddedServer(Path(folder) / "store")
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            for setting in ("fsync", "full_page_writes", "synchronous_commit"):
                connection.execute(f"ALTER SYSTEM SET {setting} = off")
            connection.execute("SELECT pg_reload_conf()")
        for name in options.sections:
            began = time.monotonic()
            for row in SECTIONS[name](options, server, (first.spec, second.spec)):
                rows.append(row)
                sys.stderr.write(f"{row[0]}: {row[1]} ({time.monotonic() - began:.0f} s)\n")
        server.close()
    width = max(len(what) for what, _, _ in rows)
    sys.stdout.write(
        "\n" + "".join(f"{'ok ' if good else 'NOT'}  {what:{width}}  {told}\n" for what, told, good in rows)
    )
    return 0 if all(good for _, _, good in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
