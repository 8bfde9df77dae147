"""A process of its own that reads ranges of memories: tasks come in on its standard input, results go out.

Started by `reading_pool` as `python -m`, and not by `multiprocessing`: that would import the user's program a second
time, which runs a script without a guard all over again.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from typing import IO, Any

from hopgate.graph.build.range_reading import RangeReader
from hopgate.store import connect


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer requests until there are no more: first (address, extractor), then (method of RangeReader, argument)."""
    dsn, extractor = pickle.load(requests)
    reader = RangeReader(extractor)
    # Reading makes many small things and no circles: looking for these took a twentieth of the time.
    gc.set_threshold(200_000, 50, 100)
    with connect.connect(dsn) as connection:
        while True:
            try:
                task, argument = pickle.load(requests)
            except EOFError:
                return
            answer: Any = None
            try:
                if task == "surveys":
                    reader.surveys = argument
                else:
                    answer = getattr(reader, task)(connection, argument)
                connection.commit()
            except Exception as error:
                connection.rollback()
                answer = error
            pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()


if __name__ == "__main__":
    # An interruption is the starter's to deal with, and nothing but answers may stand on standard output.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, out)
