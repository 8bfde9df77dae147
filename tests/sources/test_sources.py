"""Each source: recognised, read with its dates, threads and ids, the same again; the wrong file refused."""

import json
import os
from pathlib import Path

import pytest
import samples

import hopgate
from hopgate.errors import HopgateError
from hopgate.memory import Memory
from hopgate.sources.read import read_source
from hopgate.sources.source import ReadOptions
from hopgate.sources.tables import parse_map
from hopgate.store import setting_rows


def read(path: Path | str, form: str | None = None, **options: object) -> tuple[str, list[Memory]]:
    found = read_source(path, form, ReadOptions(**options))
    return found.name, list(found.memories)


def by_id(memories: list[Memory]) -> dict[str, Memory]:
    return {memory.external_id: memory for memory in memories}


def stamp(memory: Memory) -> str:
    assert memory.created_at is not None
    return memory.created_at.isoformat()


def test_an_obsidian_vault(tmp_path):
    name, memories = read(samples.vault(tmp_path))
    notes = by_id(memories)
    assert name == "obsidian" and list(notes) == ["2024-05-01.md", "Codes.md", "Homelab/NAS.md"]
    nas = notes["Homelab/NAS.md"]
    assert nas.title == "The NAS" and nas.category == "Homelab" and stamp(nas).startswith("2024-03-01")
    assert nas.tags == ("homelab", "storage", "backup")
    assert nas.expanded_keywords == ("filer", "borealis", "atlas", "Hendrik")
    assert nas.text.startswith("It runs on the new box, not on atlas. #backup")
    assert nas.extra == {"rating": 4, "aliases": ["filer"]}
    day = notes["2024-05-01.md"]
    assert day.title == "2024-05-01" and stamp(day).startswith("2024-05-01") and day.tags == ("diary/spring",)
    assert notes["Codes.md"].is_sensitive and not nas.is_sensitive


def test_sections_of_notes(tmp_path):
    _, memories = read(samples.vault(tmp_path), sections=True)
    disks = by_id(memories)["Homelab/NAS.md#disks"]
    assert disks.title == "The NAS: Disks" and disks.text == "Four disks by Hendrik."
    assert disks.thread == "Homelab/NAS.md" and disks.expanded_keywords == ("filer", "Hendrik")
    assert by_id(memories)["Codes.md"].is_sensitive


def test_lines_of_text(tmp_path):
    path = samples.text(tmp_path)
    name, first = read(path)
    assert name == "text" and [memory.text for memory in first][1:] == ["Feed the cat.", "Feed the cat."]
    path.write_text("A new first line.\n" + path.read_text())
    assert {memory.external_id for memory in first} < {memory.external_id for memory in read(path)[1]}


def test_a_table(tmp_path):
    path = samples.csv(tmp_path)
    name, memories = read(path, fields=parse_map(samples.CSV_MAP))
    first, second = memories
    assert name == "csv" and first.external_id == "7" and first.text == "The boiler, serviced by\nHendrik."
    assert first.tags == ("home", "heating") and stamp(first).startswith("2024-05-01") and not first.is_sensitive
    assert second.is_sensitive
    with pytest.raises(HopgateError, match="say which is the text, --map text=COLUMN"):
        read(path)
    with pytest.raises(HopgateError, match="line 2: 'labels' is not a field of a memory: did you mean 'tags'"):
        read(path, fields=parse_map(samples.CSV_MAP[:3]))
    with pytest.raises(HopgateError, match="no column 'Text'"):
        read(path, fields=parse_map(["text=Text"]))
    path.write_text(path.read_text() + "9,too few\n")
    with pytest.raises(HopgateError, match="line 5: 2 cells, where the header has 5"):
        read(path, fields=parse_map(samples.CSV_MAP))


def test_the_text_of_a_row_is_made_of_its_columns(tmp_path):
    (tmp_path / "bought.csv").write_text("item,shop,price,date\nUPS,Conrad,129.50,2024-03-01\nFan,,9,2024-04-01\n")
    options = {"text": "{item} from {shop}, {price} €", "fields": parse_map(["created_at=date"])}
    name, (first, second) = read(tmp_path / "bought.csv", **options)
    assert name == "csv" and first.text == "UPS from Conrad, 129.50 €" and second.text == "Fan from , 9 €"
    assert first.extra == {"item": "UPS", "shop": "Conrad", "price": "129.50"} and stamp(first).startswith("2024-03-01")
    (tmp_path / "bought.jsonl").write_text('{"item": "UPS", "price": 129.5}\n')
    assert read(tmp_path / "bought.jsonl", text="{item}: {price}")[1][0].text == "UPS: 129.5"
    with pytest.raises(HopgateError, match="no column 'Shop' for '--text Shop': it has 'item', 'shop'"):
        read(tmp_path / "bought.csv", text="{item} from {Shop}")
    with pytest.raises(HopgateError, match="--map and --text are for tables"):
        read(samples.text(tmp_path), text="{item}")


def test_json_with_a_field_map(tmp_path):
    path = samples.records(tmp_path)
    name, (first, second) = read(path, fields=parse_map(samples.RECORDS_MAP))
    assert name == "json" and (first.external_id, first.text) == ("1", "The boiler shows E119.")
    assert stamp(second) == "2024-05-02T08:00:00+00:00" and first.tags == ("boiler",)
    with pytest.raises(HopgateError, match="record 1: 'message' is not a field of a memory: did you mean 'text'"):
        read(path, fields=parse_map(["text=key"]))
    rows = json.loads(path.read_text())["items"]
    lines = tmp_path / "notes.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read(lines, fields=parse_map(samples.RECORDS_MAP))[1] == [first, second]


@pytest.mark.parametrize("pair", ["text", "text=", "sensitiv=x", "metadata=x"])
def test_a_map_that_is_none_is_refused(pair):
    with pytest.raises(HopgateError, match="--map"):
        parse_map([pair])


def test_chatgpt(tmp_path):
    name, memories = read(samples.chatgpt(tmp_path))
    assert name == "chatgpt"
    assert [(one.external_id, one.reply_to) for one in memories] == [
        ("chatgpt:u1", None),
        ("chatgpt:a1", "chatgpt:u1"),
        ("chatgpt:u3", "chatgpt:a1"),
    ]
    assert memories[1].text == "One rated for vibration." and memories[1].category == "Disks"
    assert stamp(memories[0]) == "2024-05-01T08:00:00.500000+00:00" and memories[0].thread == "chatgpt:c1"


def test_claude(tmp_path):
    name, memories = read(samples.claude(tmp_path))
    assert name == "claude" and [one.text for one in memories] == ["Who serviced the boiler?", "Hendrik did."]
    assert memories[1].reply_to == "claude:m1" and stamp(memories[1]) == "2024-05-01T08:00:09+00:00"


def test_slack(tmp_path):
    name, (first, second) = read(samples.slack(tmp_path))
    assert name == "slack" and first.text == "Ada: Is atlas down, bea? > see log (http://x.y)"
    assert second.text == "bea: Yes." and second.reply_to == first.external_id == "slack:general:1714550400.1"
    assert second.thread != first.thread == "slack:general"


def test_whatsapp(tmp_path):
    path = samples.whatsapp(tmp_path)
    name, (first, second) = read(path)
    assert name == "whatsapp" and first.text == "Ada: The boiler is out.\nAgain." and first.thread == "whatsapp:Ada"
    assert second.text == "Bea: I will call Hendrik: today." and stamp(second) == "2024-02-01T08:05:00+00:00"
    path.write_text("[1/2/24, 9:15:07\u202fPM] \u200eAda: Hello.\n[1/3/24, 9:16:00\u202fAM] Bea: Yes.\n")
    with pytest.raises(HopgateError, match="2 ways: say --date-order dmy or mdy"):
        read(path)
    assert [stamp(one) for one in read(path, date_order="mdy")[1]] == [
        "2024-01-02T21:15:07+00:00",
        "2024-01-03T09:16:00+00:00",
    ]


def test_telegram(tmp_path):
    name, (first, second) = read(samples.telegram(tmp_path))
    assert name == "telegram" and first.text == "Ada: See https://x.y for the disks."
    assert second.reply_to == first.external_id == "telegram:99:2" and stamp(first) == "2024-05-01T08:00:00+00:00"


def test_mail(tmp_path):
    name, (first, second) = read(samples.mbox(tmp_path))
    assert name == "mbox" and (first.title, first.text) == ("The Bär", "The bear is at the harbour.")
    assert first.expanded_keywords == ("Ada Byron",) and stamp(first) == "2024-05-01T10:00:00+02:00"
    assert second.text.startswith("I saw it.") and "{}" not in second.text
    assert second.is_sensitive and second.tags == ("zoo", "bears") and not first.is_sensitive
    assert second.thread == first.thread == second.reply_to == "mail:1@example.org"


def test_sqlite_and_its_query(tmp_path):
    path = samples.sqlite(tmp_path)
    name, (first, second) = read(path, query="SELECT id AS _id, body AS text, at AS created_at FROM notes")
    assert name == "sqlite" and (first.external_id, first.text) == ("1", "The cat sleeps.")
    assert second.created_at is None
    assert read(path, query="notes", fields=parse_map(["_id=id", "text=body", "created_at=at"]))[1] == [first, second]
    with pytest.raises(HopgateError, match=r"no such table: memories.*--from-sql"):
        read(path)
    with pytest.raises(HopgateError, match=r"cannot be read so"):
        read(path, query="DELETE FROM notes")


def test_a_table_of_a_server(dsn, tmp_path):
    import psycopg

    with psycopg.connect(dsn) as connection:
        connection.execute("CREATE TABLE notes (id uuid, body text, at timestamptz, weight numeric)")
        connection.execute("INSERT INTO notes VALUES (gen_random_uuid(), 'Ada calls.', '2024-05-01Z', 0.25)")
    address = "postgresql:" + "///?" + "&".join(dsn.split()).replace("'", "")
    fields = parse_map(["_id=id", "text=body", "created_at=at", "importance=weight"])
    name, (only,) = read(address, query="notes", fields=fields)
    assert name == "sql" and only.text == "Ada calls." and only.importance == 0.25 and len(only.external_id) == 36
    with pytest.raises(HopgateError, match="the query failed"):
        read(address, query="DELETE FROM notes RETURNING body AS text")
    with pytest.raises(HopgateError, match="needs a table or a query"):
        read(address)


@pytest.mark.parametrize(("make", "options"), samples.ALL)
def test_a_source_gives_the_same_memories_again_and_takes_a_scope(tmp_path, make, options):
    path = make(tmp_path)
    assert read(path, **options) == read(path, **options)
    assert {memory.scope for memory in read(path, scope="mine", **options)[1]} == {"mine"}


def test_what_is_no_source_is_refused(tmp_path):
    with pytest.raises(HopgateError, match="cannot be read: No such file"):
        read(tmp_path / "gone")
    with pytest.raises(HopgateError, match=r"a directory in which hopgate recognises nothing: say.*--as"):
        read(tmp_path)
    with pytest.raises(HopgateError, match="there is no source 'word'"):
        read(tmp_path, "word")
    odd = tmp_path / os.fsdecode(b"\xff.txt")
    odd.write_text("A line.\n")
    with pytest.raises(HopgateError, match="surrogate"):
        read(odd)


def test_an_id_that_is_made_of_a_text_is_no_help_in_guessing_it(kb, other, tmp_path):
    """The same file gives the same ids in one store, and in another one others."""
    file = tmp_path / "codes.txt"
    file.write_text("PIN 99\n")
    kb.ingest(file)
    kb.ingest(file)
    with hopgate.open(other) as second:
        second.ingest(file)
        ids = {memory.external_id for store in (kb, second) for memory in store.export()}
        assert len(ids) == 2 and kb.made_id("PIN 99") == kb.made_id("PIN 99") != second.made_id("PIN 99")
    assert kb.store.run(setting_rows.id_key).hex() not in str((kb.upkeep.status(), kb.store_settings.resolve()))
