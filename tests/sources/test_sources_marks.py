"""Tags and flags in every shape in which notes and tables have them: each is read as what it is, or refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from hopgate.errors import HopgateError
from hopgate.guard import SensitivityRules
from hopgate.memory import Memory
from hopgate.sources.read import checked_memories, read_source
from hopgate.sources.source import LeftOutWarning, ReadOptions

RULES = SensitivityRules(tags=("secret",))

# Front matter with the tags home and secret, all of which YAML reads so.
TAGS = """
tags: [home, secret]
tags: [home,\\n  secret]
tags: [home, secret] # mine
tags: [ "home" , 'secret' ]
tags: ["home", "\\u0073ecret"]
tags: ["home", "sec\\\\x72et"]
tags: ["#home", "#secret"]
tags: ["home", " secret "]
tags: ["home", "##secret"]
tags: [home, Secret]
tags: [home, SECRET]
tags: [home, secret/keys]
tags: [home, "#secret/keys/old"]
tags: [[home], [secret]]
tags: [home, [secret]]
tags: [home, &a secret]
tags: [&a secret, *a]
tags: !!seq [home, secret]
tags: !!set {home, secret}
tags: [home, !!str secret]
tags: ["home", "secr\\u00ADet"]
tags: ["home", "sec\\u200Bret"]
tags: ["home", "ｓｅｃｒｅｔ"]
tags: [home, secret,]
tags: [home, ~, secret]
tags: home, secret
tags: home,secret
tags: home secret
tags: home; secret
tags: home|secret
tags: "home, secret"
tags: '#home #secret'
tags: "#home, #secret"
tags: secret
tags: "secret"
tags: secret # mine
tags: |\\n  home\\n  secret
tags: >\\n  home\\n  secret
tags: >-\\n  home, secret
tags: "home,\\n  secret"
tags:\\n  - home\\n  - secret
tags:\\n- home\\n- secret
tags:\\n  - home\\n  - "secret" # mine
tags:\\n  - home # this\\n  # that\\n  - secret
tags:\\n  - home\\n\\n  - secret
tags:\\n  - - home\\n    - secret
tags:\\n  -   secret
tags:\\n  - home, secret
tags:\\n  - >-\\n    secret
"tags": [home, secret]
'tags': [home, secret]
? tags\\n: [home, secret]
tag: secret
tag: [home, secret]
tags : [home, secret]
{tags: [home, secret]}
{"tags": ["home", "secret"]}
base: &b [home, secret]\\ntags: *b
""".strip().split("\n")
# Front matter whose tags or flag cannot be what was meant.
REFUSED = """
tags: {secret: 1}
tags: [{secret: 1}]
tags: [home, {name: secret}]
tags: [yes, home]
tags: [home
tags: [home, secret]\\ntag: other
tags: home\\ntags: secret
is_sensitive:
is_sensitive: ~
is_sensitive: maybe
is_sensitive: 1
is_sensitive: "true"
is_sensitive: [true]
is-sensitive: true
sensitive: true
Private: true
meta:\\n  is_sensitive: true
meta: {deep: [{private: true}]}
extra:\\n  secret: yes
metadata:\\n  is_sensitive: true
""".strip().split("\n")
BODY = "The code is 1234.\n"
# Notes whose front matter does not stand where it is read, or is not YAML between two lines of dashes.
ODD_NOTES = [
    "<!-- mine -->\n---\nis_sensitive: true\n---\n",
    "%% mine %%\n\n---\ntags: [secret]\n---\n",
    "# Codes\n---\nis_sensitive: true\n---\n",
    "+++\nis_sensitive = true\n+++\n",
    "---toml\nis_sensitive = true\n---\n",
    "---yaml\nis_sensitive: true\n---\n",
    "--- yaml\ntags: [secret]\n---\n",
    "---json\n{}\n---\n",
    ";;;\n{}\n;;;\n",
    "---\nis_sensitive: true\n\n",
    "---\n\ntags: [secret]\n",
    "---\nno fields at all\n---\n",
]
GOOD_NOTES = [
    "---\nis_sensitive: true\n---\n",
    "---\nis_sensitive: yes # mine\n---\n",
    "--- \nis_sensitive: True\n---\t\n",
    "---\nis_sensitive: true\n...\n",
    "\n\n---\nis_sensitive: true\n---\n",
    "\ufeff---\nis_sensitive: true\n---\n",
    "---\r\nis_sensitive: true\r\n---\r\n",
    "---\ris_sensitive: true\r---\r",
    "---\ntitle: Codes\n# comment\n\nis_sensitive: true\n---\n",
]


def note(folder: Path, text: str) -> Memory:
    (folder / "note.md").write_bytes((text + BODY).encode())
    [memory] = RULES.applied(read_source(folder).memories)
    return memory


def as_note(front: str) -> str:
    return "---\n" + front.replace("\\n", "\n").replace("\\\\", "\\") + "\n---\n"


@pytest.mark.parametrize("text", [*map(as_note, TAGS), *GOOD_NOTES], ids=repr)
def test_a_marked_note_is_sensitive(tmp_path: Path, text: str) -> None:
    memory = note(tmp_path, text)
    assert memory.is_sensitive and memory.text == BODY.strip()


@pytest.mark.parametrize("text", [*map(as_note, REFUSED), *ODD_NOTES], ids=repr)
def test_what_is_not_understood_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(HopgateError, match=r"note\.md") as refused:
        note(tmp_path, text)
    assert "1234" not in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "text", ["", "---\n", "---\n---\n", "---\n\nA line above.\n", "# Title\n\n---\n\nWhen: at nine.\n\n---\n"], ids=repr
)
def test_a_plain_note_is_not_sensitive(tmp_path: Path, text: str) -> None:
    memory = note(tmp_path, text)
    assert not memory.is_sensitive and BODY.strip() in memory.text


def rows(folder: Path, name: str, text: str) -> Iterator[Memory | HopgateError]:
    (folder / name).write_text(text)
    for _, memory in checked_memories(folder / name):
        yield memory if isinstance(memory, HopgateError) else next(RULES.applied([memory]))


@pytest.mark.parametrize(
    "cell", ["secret", "home|secret", "home;secret", "home, secret", " secret ", "#Secret", '["secret"]']
)
def test_a_tag_of_a_table(tmp_path: Path, cell: str) -> None:
    quoted = '"' + cell.replace('"', '""') + '"'
    [memory] = rows(tmp_path, "notes.csv", f"text,tags\nThe code.,{quoted}\n")
    assert isinstance(memory, Memory) and memory.is_sensitive


FLAGS = {True: ("true", "Yes", " 1 "), False: ("false", "no", "0"), None: ("", "x")}


@pytest.mark.parametrize(
    ("cell", "sensitive"), [(cell, sensitive) for sensitive, cells in FLAGS.items() for cell in cells]
)
def test_a_flag_of_a_table(tmp_path: Path, cell: str, sensitive: bool | None) -> None:
    [memory] = rows(tmp_path, "notes.csv", f"text,is_sensitive\nThe code.,{cell}\n")
    if sensitive is None:
        assert isinstance(memory, HopgateError)
    else:
        assert isinstance(memory, Memory) and memory.is_sensitive is sensitive


@pytest.mark.parametrize(
    "record",
    [
        {"extra": {"is_sensitive": True}},
        {"extra": {"a": [{"b": {"Private": 1}}]}},
        {"metadata": {"extra": {"secret": True}}},
        {"metadata": {"meta": {"is_sensitive": True}}},
        {"meta": {"is_sensitive": True}},
        {"is_sensitive": None},
        {"is_sensitive": "true"},
        {"is_sensitive": 1},
        {"metadata": {"is_sensitive": None}},
        {"isSensitive": True},
        {"tags": {"secret": True}},
        {"tags": [["secret"]]},
        {"tags": [None, "secret"]},
    ],
    ids=json.dumps,
)
def test_a_line_whose_mark_is_in_no_place_for_it_is_refused(tmp_path: Path, record: dict[str, object]) -> None:
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"_id": "m1", "text": BODY, **record}))
    options = ReadOptions(keep_unknown=True)
    [(_, refused)] = checked_memories(tmp_path / "corpus.jsonl", options=options)
    assert isinstance(refused, HopgateError) and "1234" not in str(refused)


def test_tags_that_look_the_same_are_the_same() -> None:
    rules = SensitivityRules(tags=("é", "#Top Secret"))
    for tag in ("e\u0301", "É", "é/keys", "top  secret", " #TOP SECRET ", "top\u00a0secret"):
        assert rules.meets(Memory("m1", "x", tags=(tag,))), tag
    for tag in ("e", "top", "topsecret", "secret", "keys/é"):
        assert not rules.meets(Memory("m1", "x", tags=(tag,))), tag


def test_links_are_not_followed_and_what_leaves_the_folder_is_named(tmp_path: Path) -> None:
    vault, outside = tmp_path / "vault", tmp_path / "outside"
    for folder in (vault / "real", outside):
        folder.mkdir(parents=True)
        (folder / "note.md").write_text("A note.\n")
    for name, target in (("a", "."), ("b", "."), ("real/up", ".."), ("again", "real"), ("copy.md", "real/note.md")):
        (vault / name).symlink_to(target)
    assert [memory.external_id for memory in read_source(vault).memories] == ["real/note.md"]
    (vault / "out").symlink_to(outside)
    (vault / "out.md").symlink_to(outside / "note.md")
    with pytest.warns(LeftOutWarning, match="is a link out of") as named:
        assert len(list(read_source(vault).memories)) == 1
    assert {str(vault / "out"), str(vault / "out.md")} == {str(warning.message).split()[0] for warning in named}
