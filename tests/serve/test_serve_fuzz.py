"""Requests made up from the OpenAPI document by Schemathesis, each sent with the token and, beside it, without.

Nothing breaks the server, nobody without the token gets more than a 401, no answer holds the canary of the sensitive
memories, and none is other than the document says. 300 in `make full`, 5,000 in `make soak`.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import Any
from unittest import SkipTest

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from serve_store import CANARY, MEMORIES, SECRET
from serving import TOKEN, Running

requests = pytest.importorskip("requests")
schemathesis = pytest.importorskip("schemathesis")
pytestmark = pytest.mark.full

WANTED = 5000 if os.environ.get("HOPGATE_SOAK") else 300
# A longer one is refused before it is read, and the connection is closed under it.
MOST_OF_AN_ADDRESS = 50_000
QUERIES = ("the code of the vault", "who lives in London", "where does Gitea run")
# Half of what a schema allows is a memory that is not there: these are, so that endpoints come to their work.
IDS = (*SECRET, *(memory.external_id for memory in MEMORIES if memory.external_id != "m6"))


class Fuzz:
    """Sends requests to a server, and keeps what came back."""

    def __init__(self, running: Running) -> None:
        from schemathesis.checks import not_a_server_error
        from schemathesis.specs.openapi import checks

        self.running, self.session = running, requests.Session()
        self.statuses: Counter[int] = Counter()
        self.wrong: list[str] = []
        conforms = (checks.status_code_conformance, checks.content_type_conformance, checks.response_schema_conformance)
        self.checks = [not_a_server_error, *conforms]

    def ask(self, operation: Any, mode: Any, examples: int, seed: int) -> None:
        """Send made-up requests of one operation, as its schema says or against it."""
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
            body = case.body if isinstance(case.body, dict) else {}
            if key is not None and case.method != "DELETE":
                if "id" in (case.path_parameters or {}) and "/memories/" in case.path:
                    case.path_parameters["id"] = key
                if "id" in body and "/explain" in case.path:
                    body["id"] = key
            if query is not None and "query" in body:
                body["query"] = query
            self.send(case)

        try:
            send()
        except (SkipTest, hypothesis.errors.Unsatisfiable):
            # Nothing can be wrong about an operation without parameters. What has some must be asked both ways.
            if (
                mode is schemathesis.GenerationMode.POSITIVE
                or operation.query
                or operation.body
                or operation.path_parameters
            ):
                self.wrong.append(f"{operation.label} was not asked: {mode}")

    def send(self, case: Any) -> None:
        """Send a request with the token and without, and look at both answers."""
        kwargs = case.as_transport_kwargs(base_url=self.running.url)
        try:
            prepared = requests.Request(kwargs["method"], kwargs["url"], params=kwargs.get("params")).prepare()
            if len(prepared.url or "") > MOST_OF_AN_ADDRESS:
                return
            let_in = {"Authorization": f"Bearer {TOKEN}"}
            given = case.call(base_url=self.running.url, session=self.session, headers=let_in)
        except (requests.exceptions.InvalidHeader, requests.exceptions.InvalidURL, UnicodeError):
            return
        headers = {name: value for name, value in (kwargs.get("headers") or {}).items() if name != "Authorization"}
        stranger = requests.request(**{**kwargs, "headers": headers, "cookies": None})
        self.statuses.update((given.status_code, stranger.status_code))
        # What was sent may be said back; what is in the store may not.
        asked = json.dumps([case.body if isinstance(case.body, dict | list | str) else None, case.query], default=str)
        faults = {
            "broke the server": given.status_code >= 500,
            "let a stranger in": stranger.status_code != 401,
            "holds the canary": (CANARY in given.text and CANARY not in asked) or CANARY in stranger.text,
        }
        where = f"{case.method} {case.formatted_path}: {given.status_code}"
        self.wrong += [f"{where} {fault}" for fault, there in faults.items() if there]
        try:
            case.validate_response(given, checks=self.checks)
        except (Exception, BaseExceptionGroup) as error:
            self.wrong.append(f"{where} {error}"[:1500])


def test_no_made_up_request_breaks_the_server_or_gets_what_it_must_not(writing: Running) -> None:
    fuzz = Fuzz(writing)
    schema = schemathesis.openapi.from_dict(writing.get("openapi.json").json())
    operations = [found.ok() for found in schema.get_all_operations()]
    for turn in range(1000):
        # One of two is sent without the token.
        examples = max(2, (WANTED - fuzz.statuses.total()) // (4 * len(operations)) + 1)
        for operation in operations:
            for mode in schemathesis.GenerationMode:
                fuzz.ask(operation, mode, examples, turn)
        if fuzz.statuses.total() >= WANTED:
            break
    assert fuzz.wrong == []
    assert fuzz.statuses[200] > 30 and fuzz.statuses[401] >= fuzz.statuses.total() // 2
