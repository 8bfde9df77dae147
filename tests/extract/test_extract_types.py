"""A `types.toml`: what a model is told of it, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopgate.errors import HopgateError
from hopgate.extract.model.openai import OpenAI
from hopgate.extract.spec import extractor_from, read_type_table

TYPES = """
[kinds.ship]
description = "a vessel with a name"
examples = ["MS Fram"]

[relations."moored at"]
description = "where a ship lies"
single_valued = true
"""


def test_kinds_and_relations_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "types.toml").write_text(TYPES)
    made = extractor_from("openai", model="m", types=tmp_path / "types.toml")
    assert isinstance(made, OpenAI) and made.single_valued == ("moored at",)
    for wanted in ("'ship' (a vessel with a name), such as MS Fram", "'moored at' (where a ship lies)"):
        assert wanted in made.identity.prompt
    assert made.identity.hash != OpenAI("m", together=100).identity.hash


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[kind.ship]", "did you mean 'kinds'"),
        ("kinds = 1", "write .kinds.NAME"),
        ("[kinds.ship]\ndescripton = 'x'", "did you mean 'description'"),
        ("[relations.owns]\nsingle_valued = 'yes'", "true or false"),
        ("[kinds]\nship = 1", "a table is expected"),
        ("[kinds.x]\nexamples = 'y'", "list of strings"),
        ("", "neither kinds nor relations"),
        ("[", "not TOML"),
    ],
)
def test_a_table_of_types_that_is_none_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "types.toml").write_text(text)
    with pytest.raises(HopgateError, match=reason):
        read_type_table(tmp_path / "types.toml")
    with pytest.raises(HopgateError, match="asks no model"):
        extractor_from("phrases", types=tmp_path / "types.toml")
