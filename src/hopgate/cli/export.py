"""`hopgate export`: memories out, as they came in."""

from __future__ import annotations

import json
import sys

from hopgate.cli.common import Data, Dsn, opened
from hopgate.corpus import to_record


def command(data: Data = None, dsn: Dsn = None) -> None:
    """Write every memory to standard output as corpus.jsonl, its fields as they came in.

    Sensitive memories are among them: treat the file accordingly.

    Example: hopgate export > backup.jsonl
    """
    with opened(data, dsn) as kb:
        for memory in kb.export():
            sys.stdout.write(json.dumps(to_record(memory), ensure_ascii=False) + "\n")
