"""Requests made up from the OpenAPI document by Schemathesis; `python tests/serve/fuzz_api.py --requests 5000`.

Each is sent with the token and, beside it, without. Counted are requests, answers of 500 and above, answers to those
without the token, answers that hold the canary of the sensitive memories, and answers that the document does not allow.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from unittest import SkipTest

import hypothesis
import requests
import schemathesis
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks as openapi_checks

sys.path.insert(0, str(Path(__file__).parent))

from serve_store import CANARY, MEMORIES, SECRET, fill
from serving import TOKEN, Running, serving

CHECKS = [
    not_a_server_error,
    openapi_checks.status_code_conformance,
    openapi_checks.content_type_conformance,
    openapi_checks.response_schema_conformance,
]
QUERIES = ("the code of the vault", "who lives in London", "where does Gitea run")
# Half of what a schema allows is a memory that is not there: these are, so that endpoints come to their work.
IDS = (*SECRET, *(memory.external_id for memory in MEMORIES if memory.external_id != "m6"))


@dataclass
class Figures:
    """What was sent and what came back."""

    requests: int = 0
    server_errors: int = 0
    unauthenticated: int = 0
    canary: int = 0
    undocumented: int = 0
    seconds: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def fuzz(running: Running, wanted: int, *, seed: int = 0) -> Figures:
    """Send at least so many requests to a server, evenly over its operations."""
    figures, begun = Figures(), time.perf_counter()
    document = running.get("openapi.json").json()
    schema = schemathesis.openapi.from_dict(document)
    operations = [found.ok() for found in schema.get_all_operations()]
    session = requests.Session()
    for turn in range(1000):
        # One of two is sent without the token.
        each = max(2, (wanted - figures.requests) // (4 * len(operations)) + 1)
        for operation in operations:
            for mode in GenerationMode:
                _ask(operation, mode, each, seed + turn, running, session, figures)
        if figures.requests >= wanted:
            break
    figures.seconds = round(time.perf_counter() - begun, 1)
    return figures


def _ask(
    operation: Any, mode: Any, examples: int, seed: int, running: Running, session: requests.Session, figures: Figures
) -> None:
    cases = operation.as_strategy(generation_mode=mode)

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(case=cases, key=st.sampled_from((None, *IDS)), query=st.sampled_from((None, *QUERIES)))
    def send(case: Any, key: str | None, query: str | None) -> None:
        if key is not None and case.method != "DELETE":
            if "id" in (case.path_parameters or {}) and "/memories/" in case.path:
                case.path_parameters["id"] = key
            if isinstance(case.body, dict) and "id" in case.body and "/explain" in case.path:
                case.body["id"] = key
        if query is not None and isinstance(case.body, dict) and "query" in case.body:
            case.body["query"] = query
        _send(case, running, session, figures)

    try:
        send()
    except (SkipTest, hypothesis.errors.Unsatisfiable):
        # Nothing can be wrong about an operation without parameters. What has some must be asked both ways.
        if mode is GenerationMode.POSITIVE or operation.query or operation.body or operation.path_parameters:
            figures.wrong.append(f"{operation.label} was not asked: {mode}")


def _send(case: Any, running: Running, session: requests.Session, figures: Figures) -> None:
    url = running.url
    headers = {"Authorization": f"Bearer {TOKEN}"}
    try:
        given = case.call(base_url=url, session=session, headers=headers)
    except (requests.exceptions.InvalidHeader, requests.exceptions.InvalidURL, UnicodeError):
        return
    kwargs = case.as_transport_kwargs(base_url=url)
    without = {name: value for name, value in (kwargs.get("headers") or {}).items() if name.lower() != "authorization"}
    stranger = requests.request(**{**kwargs, "headers": without, "cookies": None})
    figures.requests += 2
    figures.statuses[given.status_code] += 1
    figures.statuses[stranger.status_code] += 1
    where = f"{case.method} {case.formatted_path}: {given.status_code}"
    if given.status_code >= 500 or stranger.status_code >= 500:
        figures.server_errors += 1
        figures.wrong.append(f"{where} {given.text[:200]}\n{case.as_curl_command()[:500]}")
    if stranger.status_code != 401:
        figures.unauthenticated += 1
        figures.wrong.append(f"{where} without the token: {stranger.status_code}")
    # What was sent may be said back; what is in the store may not.
    asked = json.dumps([case.body if isinstance(case.body, (dict, list, str)) else None, case.query], default=str)
    if (CANARY in given.text and CANARY not in asked) or CANARY in stranger.text:
        figures.canary += 1
        figures.wrong.append(f"{where} holds the canary")
    try:
        case.validate_response(given, checks=CHECKS)
    except (Exception, BaseExceptionGroup) as error:
        figures.undocumented += 1
        figures.wrong.append(f"{where} {error}"[:1500])


def main() -> int:
    """Fuzz a store of its own, and print the figures."""
    import hopgate

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, hopgate.open(folder, linger=0) as kb:
        fill(kb)
        with serving(kb, gates=Path(folder) / "gates") as running:
            figures = fuzz(running, options.requests, seed=options.seed)
    for sentence in figures.wrong[:20]:
        sys.stderr.write(sentence + "\n")
    found = asdict(figures)
    del found["wrong"]
    sys.stdout.write(json.dumps({**found, "statuses": dict(sorted(figures.statuses.items()))}) + "\n")
    return 1 if figures.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
