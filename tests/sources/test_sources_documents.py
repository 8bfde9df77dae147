"""Documents made here, byte by byte or part by part: pages of a PDF, Word, EPUB and HTML, alone and among notes."""

import zipfile

import pytest
from samples import pdf

from hopgate.errors import HopgateError
from hopgate.sources.read import read_source
from hopgate.sources.source import ReadOptions

WORD = (
    '<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    "<w:body><w:p><w:r><w:t>The boiler is by Vaillant.</w:t></w:r></w:p></w:body></w:document>"
)
TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType="application/'
    'vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
LINKS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"'
    ' Target="word/document.xml"/></Relationships>'
)
CONTAINER = '<?xml version="1.0"?><container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>'
BOOK = (
    '<?xml version="1.0"?><package><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Tides</dc:title>'
    '</metadata><manifest><item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"/></spine></package>'
)


def archive(path, **parts):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(name.replace("__", "/"), text)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pump.pdf").write_bytes(pdf("The pump weighs 84 kg.", "Call Ada for service."))
    word = {"[Content_Types].xml": TYPES, "_rels__.rels": LINKS, "word__document.xml": WORD}
    archive(tmp_path / "boiler.docx", **word)
    chapter = "<html><body><h1>Ebb</h1><p>The moon pulls.</p></body></html>"
    book = {"META-INF__container.xml": CONTAINER, "book.opf": BOOK, "a.xhtml": chapter}
    archive(tmp_path / "tides.epub", **book)
    (tmp_path / "page.html").write_text(
        "<html><head><title>Roof</title></head><body><p>It <b>leaks</b>.<script>secret()</script></p></body></html>"
    )
    return tmp_path


def test_each_kind_is_read_and_pages_are_memories_of_their_own(folder):
    found = {memory.external_id: memory for memory in read_source(folder).memories}
    assert {key: (memory.title, memory.text) for key, memory in found.items() if "epub" not in key} == {
        "pump.pdf#page=1": ("pump, page 1", "The pump weighs 84 kg."),
        "pump.pdf#page=2": ("pump, page 2", "Call Ada for service."),
        "boiler.docx": ("boiler", "The boiler is by Vaillant."),
        "page.html": ("Roof", "It **leaks**."),
    }
    assert "The moon pulls." in found["tides.epub"].text
    assert found["pump.pdf#page=1"].thread == found["pump.pdf#page=2"].thread == "pump.pdf"
    (alone, _) = read_source(folder / "pump.pdf").memories
    assert alone.external_id == "pump.pdf#page=1"


def test_documents_lie_among_notes_and_a_bad_one_is_set_aside(folder):
    (folder / "note.md").write_text("The cellar is dry.")
    (folder / "torn.pdf").write_bytes(pdf("x")[:40])
    (folder / "scan.pdf").write_bytes(pdf(""))
    archive(folder / "bomb.docx", **{"word__document.xml": "x" * (3 << 20)})
    source = read_source(folder, options=ReadOptions(max_mb=2))
    assert len(list(source.memories)) == 6
    said = " ".join(map(str, source.rejected))
    for words in ("torn.pdf", "is it damaged", "scan.pdf holds no text", "ocrmypdf", "unpacks to more than 2 MB"):
        assert words in said


def test_one_bad_document_alone_is_refused(tmp_path):
    (tmp_path / "none.docx").write_bytes(b"no archive")
    with pytest.raises(HopgateError, match=r"none\.docx cannot be read: is it damaged"):
        list(read_source(tmp_path / "none.docx").memories)


def test_a_document_is_no_other_kind_of_file_and_reads_none(tmp_path):
    (tmp_path / "near.txt").write_text("canary")
    archive(tmp_path / "zip.docx", near="An archive by another name.")
    entity = f"?><!DOCTYPE x [<!ENTITY e SYSTEM 'file://{tmp_path}/near.txt'>]>"
    word = WORD.replace("?>", entity).replace("boiler", "&e;")
    archive(
        tmp_path / "entity.docx", **{"[Content_Types].xml": TYPES, "_rels__.rels": LINKS, "word__document.xml": word}
    )
    (tmp_path / "page.html").write_text(f"<iframe src='file://{tmp_path}/near.txt'></iframe>It leaks.")
    source = read_source(tmp_path)
    assert [memory.text for memory in source.memories] == ["It leaks."]
    assert [item.reason.rpartition("(")[0][-15:] for item in source.rejected] == ["cannot be read "] * 2
