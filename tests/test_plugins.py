"""The example of a plugin, installed as a package is: what it adds is found by name, and a broken one is named."""

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from hopgate.embed import embedder_from
from hopgate.errors import HopgateError
from hopgate.extract.spec import extractor_from
from hopgate.plugins import plugins
from hopgate.sources.read import read_source

EXAMPLE = Path(__file__).parent.parent / "docs" / "plugin-example"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As pip leaves it behind: the code, and the entry points in a folder of the package's own."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    project["entry-points"]["hopgate.sources"]["broken"] = "hopgate_letters:nothing"
    about = tmp_path / "hopgate_letters-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = (
        "\n".join([f"[{group}]", *(f"{name} = {value}" for name, value in names.items())])
        for group, names in project["entry-points"].items()
    )
    (about / "entry_points.txt").write_text("\n".join(groups))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLE)
    yield
    sys.modules.pop("hopgate_letters", None)


@pytest.mark.usefixtures("installed")
def test_what_a_plugin_adds_is_listed_and_used_by_name(kb, tmp_path):
    assert [str(found) for found in plugins("embedders", "extractors")] == [
        "embedders: letters (hopgate-letters 1.0)",
        "extractors: capitals (hopgate-letters 1.0)",
    ]
    tasks = tmp_path / "tasks.md"
    tasks.write_text("- [ ] Water the plants of Ada\n- [x] Done\n- [ ] Call Bob\n")
    with pytest.warns(UserWarning, match="the plugin 'broken' cannot be loaded .*: upgrade or remove hopgate-letters"):
        read = read_source(tasks)
    assert read.title == "a checklist"
    kb.add(*read.memories)
    kb.embed("letters:")
    assert kb.embedder_name() == "letters"
    kb.build("capitals")
    assert {"Ada", "Bob"} <= {concept.name for concept in kb.graph.concepts()}
    hits = kb.recall("call whom", rerank=True, rerank_model="shared-words:", explain=True)
    assert hits[0].memory.content == "Call Bob"
    for refused, what in ((embedder_from, "embedder"), (extractor_from, "extractor")):
        with pytest.raises(HopgateError, match=f"there is no {what} 'numbers'"):
            refused("numbers")
