"""Requests made up from the OpenAPI document by Schemathesis, each sent with the token and, beside it, without.

Nothing breaks the server, nobody without the token gets more than a 401, no answer holds the canary of the sensitive
memories, and none is other than the document says. 300 in `make full`, 5,000 in `make soak`.
"""

import itertools
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
# Half of what a schema allows is a memory that is not there: these are, so that endpoints come to their work.
IDS = st.sampled_from((None, *SECRET, *(memory.external_id for memory in MEMORIES if memory.external_id != "m6")))
QUERIES = st.sampled_from((None, "the code of the vault", "who lives in London", "where does Gitea run"))


def faults(running: Running, case: Any, statuses: Counter[int]) -> list[str]:
    """Send a request with the token and without, and say what is wrong with the two answers."""
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    kwargs = case.as_transport_kwargs(base_url=running.url)
    try:
        prepared = requests.Request(kwargs["method"], kwargs["url"], params=kwargs.get("params")).prepare()
        if len(prepared.url or "") > MOST_OF_AN_ADDRESS:
            return []
        answer = case.call(base_url=running.url, headers={"Authorization": f"Bearer {TOKEN}"})
    except (requests.exceptions.InvalidHeader, requests.exceptions.InvalidURL, UnicodeError):
        return []
    headers = {name: value for name, value in (kwargs.get("headers") or {}).items() if name != "Authorization"}
    stranger = requests.request(**{**kwargs, "headers": headers, "cookies": None})
    statuses.update((answer.status_code, stranger.status_code))
    # What was sent may be said back; what is in the store may not.
    asked = json.dumps([case.body if isinstance(case.body, dict | list | str) else None, case.query], default=str)
    wrong = ["let a stranger in"] if stranger.status_code != 401 else []
    if CANARY in stranger.text or (CANARY in answer.text and CANARY not in asked):
        wrong.append("holds the canary")
    conforms = (checks.status_code_conformance, checks.content_type_conformance, checks.response_schema_conformance)
    try:
        case.validate_response(answer, checks=[not_a_server_error, *conforms])
    except (Exception, BaseExceptionGroup) as error:
        wrong.append(str(error)[:1500])
    return [f"{case.method} {case.formatted_path}: {answer.status_code} {fault}" for fault in wrong]


def test_no_made_up_request_breaks_the_server_or_gets_what_it_must_not(writing):
    statuses, wrong = Counter[int](), list[str]()
    schema = schemathesis.openapi.from_dict(writing.get("openapi.json").json())
    operations = [found.ok() for found in schema.get_all_operations()]

    def ask(operation: Any, mode: Any) -> None:
        """Send made-up requests of one operation, as its schema says or against it; one of two without the token."""

        @hypothesis.seed(0)
        @hypothesis.settings(
            max_examples=max(2, WANTED // (4 * len(operations)) + 1),
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @hypothesis.given(case=operation.as_strategy(generation_mode=mode), key=IDS, query=QUERIES)
        def send(case: Any, key: str | None, query: str | None) -> None:
            if key is not None and case.method != "DELETE" and "/memories/" in case.path:
                case.path_parameters["id"] = key
            if query is not None and isinstance(case.body, dict) and "query" in case.body:
                case.body["query"] = query
            wrong.extend(faults(writing, case, statuses))

        send()

    for operation, mode in itertools.product(operations, schemathesis.GenerationMode):
        try:
            ask(operation, mode)
        except (SkipTest, hypothesis.errors.Unsatisfiable):
            # Nothing can be wrong about an operation without parameters.
            assert mode is not schemathesis.GenerationMode.POSITIVE, operation.label
    assert wrong == []
    assert statuses[200] > 30 and statuses[401] >= statuses.total() // 2
