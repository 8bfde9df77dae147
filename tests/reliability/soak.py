"""The long form of tests/reliability: `make soak`, or `python tests/reliability/soak.py faults fuzz`.

It ends with a table of its figures, and with status 1 where one of them is not what docs/reliability.md promises.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg

sys.path.extend([str(Path(__file__).parents[1] / name) for name in ("", "reliability")])

from fuzz import fuzz_all
from reliability.canary import Search
from reliability.faults import Count, in_child, walked
from reliability.world import Databases, commands
from word_endpoint import serving

from hopgate.store.server import EmbeddedServer

Rows = Iterator[tuple[str, str, bool]]


def faults(options: argparse.Namespace, dsn: str, specs: tuple[str, str]) -> Rows:
    """Kill every command at all its boundaries, and at points between them until there are enough."""
    databases, total = Databases(dsn, specs[0]), Search()
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
            with databases.of(command.state) as copy:
                if in_child(command, copy, point):
                    count.judge(command, copy, point, way, expected)
        figures = f"{len(way.boundaries)} boundaries, {count.kills} kills, {count.torn} torn, {count.lost} lost"
        good = count.torn == count.lost == 0 and count.kills >= options.kills
        yield f"faults: {command.name}", f"{figures} {count.examples[:2] or ''}", good
        total.words, total.places = total.words + count.search.words, total.places + count.search.places
        total.found += count.search.found
    figures = f"{total.words:,} words of memories that were gone or sensitive, {total.places:,} places"
    yield "canaries", f"{figures}, {len(total.found)} found {total.found[:3] or ''}", not total.found
    databases.close()


def fuzzed(options: argparse.Namespace, _: str, __: tuple[str, str]) -> Rows:
    """Mutated inputs for every reader."""
    for name, found in fuzz_all(options.inputs, options.seed).items():
        wrong = [*found.tracebacks, *found.hangs]
        yield f"fuzz: {name}", f"{found.inputs:,} inputs, {found.refused:,} refused {wrong[:1] or ''}", not wrong


SECTIONS: dict[str, Callable[[argparse.Namespace, str, tuple[str, str]], Rows]] = {
    "faults": faults,
    "fuzz": fuzzed,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", default=list(SECTIONS), help=", ".join(SECTIONS))
    parser.add_argument("--kills", type=int, default=100, help="kills of each command, at least")
    parser.add_argument("--only", nargs="*", help="only these commands")
    parser.add_argument("--inputs", type=int, default=1_000_000, help="fuzzed inputs")
    parser.add_argument("--seed", type=int, default=0, help="of the fuzzed inputs")
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
            for row in SECTIONS[name](options, server.dsn, (first.spec, second.spec)):
                rows.append(row)
                sys.stderr.write(f"{row[0]}: {row[1]} ({time.monotonic() - began:.0f} s)\n")
        server.close()
    for what, figures, good in rows:
        sys.stdout.write(f"{'ok ' if good else 'NOT'}  {what:24}  {figures}\n")
    return 0 if all(good for _, _, good in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
