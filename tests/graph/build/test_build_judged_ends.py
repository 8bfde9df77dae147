"""Facts that a model says are over: as edges, with their days; gone with either memory, asked about once."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from hopgate.extract.extraction import ExtractorIdentity, Fact, found
from hopgate.extract.model.chat import Reply
from hopgate.extract.model.judge import Judge
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory

FACTS = {
    "m1": [Fact("immich", "hosted on", "atlas"), Fact("immich", "backed up by", "borg")],
    "m2": [Fact("immich", "moved to", "europa")],
    "other": [Fact("immich", "hosted on", "sirius")],
}


class Given:
    """An extractor that gives what the test wants, as a model would."""

    identity = ExtractorIdentity("given", prompt="p")

    def extract(self, sources: Any) -> Any:
        return [found((), FACTS[source.memory_id]) for source in sources]


class Answering:
    """A model that ends what a function picks of the open facts."""

    def __init__(self, over: Callable[[str], bool], since: str = "") -> None:
        self.over, self.since, self.asked = over, since, list[dict[str, Any]]()

    def ask(self, chat: list[dict[str, str]], schema: dict[str, Any], room: int) -> Reply:
        rows = json.loads(chat[-1]["content"])
        self.asked += rows
        ended = [[int(key) for key, fact in row["open"].items() if self.over(fact)] for row in rows]
        entries = [
            {"id": row["id"], "ended": numbers, "since": self.since} for row, numbers in zip(rows, ended, strict=True)
        ]
        return Reply(json.dumps({"memories": entries}))


def added(kb: KnowledgeBase) -> None:
    kb.add(
        Memory("m1", "immich is hosted on atlas, borg backs it up", created_at=datetime(2024, 1, 1, tzinfo=UTC)),
        Memory("m2", "immich moved to europa", created_at=datetime(2024, 3, 1, tzinfo=UTC)),
        Memory("other", "immich is on sirius", scope="other", created_at=datetime(2024, 2, 1, tzinfo=UTC)),
    )


def current(kb: KnowledgeBase) -> set[tuple[str, str]]:
    return {(edge.relation, edge.target) for edge in kb.graph.edges() if edge.valid_to is None}


def test_moved_to_ends_hosted_on_and_both_know_it(kb):
    added(kb)
    model = Answering(lambda fact: "atlas" in fact, "2024-02-15")
    kb.build(Given(), judge=Judge(model))
    [row] = model.asked
    assert row["text"] == "immich moved to europa" and row["written"] == "2024-03-01"
    assert sorted(row["open"].values()) == ["immich: backed up by: borg", "immich: hosted on: atlas"]
    still = {("backed up by", "borg"), ("moved to", "europa"), ("hosted on", "sirius")}
    assert current(kb) == still
    [over] = [edge for edge in kb.graph.edges() if edge.target == "atlas"]
    assert str(over.valid_to).startswith("2024-02-15")
    # Nobody is asked twice.
    kb.build(Given(), judge=Judge(model))
    assert len(model.asked) == 1
    kb.delete(["m2"])
    assert current(kb) == still - {("moved to", "europa")} | {("hosted on", "atlas")}


def test_no_answer_ends_nothing_and_is_asked_for_again(kb):
    added(kb)
    kb.build(Given(), judge=Judge(Answering(lambda _: False)))
    assert ("hosted on", "atlas") in current(kb)
    kb.add(Memory("m2", "immich moved to europa, at last", created_at=datetime(2024, 3, 1, tzinfo=UTC)))

    class Silent(Answering):
        def ask(self, chat: list[dict[str, str]], schema: dict[str, Any], room: int) -> Reply:
            super().ask(chat, schema, room)
            return Reply("I would rather not.")

    silent = Silent(bool)
    for _ in range(2):
        kb.build(Given(), judge=Judge(silent))
    assert len(silent.asked) == 2 and ("hosted on", "atlas") in current(kb)
