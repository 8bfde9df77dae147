"""Documents: PDF by pages, and Word, EPUB and HTML as Markdown; `pip install 'hopgate[documents]'`."""

import io
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from hopgate.errors import HopgateError
from hopgate.sources.source import Place, ReadOptions, Record, files_below, read_bytes

SUFFIXES = (".pdf", ".docx", ".epub", ".html", ".htm")


def suffixes_in_folders() -> tuple[str, ...]:
    """The suffixes of what is read of a folder of notes: none where what reads them is not installed."""
    return SUFFIXES if find_spec("markitdown") and find_spec("pypdfium2") else ()


def is_document(place: Place) -> bool:
    """Whether a file is a document by its name, or a folder has some that can be read."""
    if place.is_dir():
        suffixes = suffixes_in_folders()
        return bool(suffixes) and next(files_below(place, *suffixes), None) is not None
    return place.name.lower().endswith(SUFFIXES)


def memories_of(path: str, place: Place, options: ReadOptions) -> Iterator[Record]:
    """Give a document, by its path: a memory a page of a PDF, whose title names the page, and one of any other.

    A long one is searched by its passages, as every long memory is.
    """
    data, suffix = read_bytes(place, options.max_mb), place.name.lower().rpartition(".")[2]
    name = place.name.rpartition(".")[0]
    if suffix == "pdf":
        for number, text in enumerate(_pages(place, data), start=1):
            if text:
                title = f"{name}, page {number}"
                yield {"_id": f"{path}#page={number}", "title": title, "text": text, "thread": path}
        return
    if suffix in ("docx", "epub"):
        _refuse_bomb(place, data, options.max_mb)
    title, text = _markdown(place, data, suffix)
    yield {"_id": path, "title": title or name, "text": text}


def _pages(place: Place, data: bytes) -> list[str]:
    """The text of each page of a PDF."""
    try:
        import pypdfium2
    except ImportError:
        raise _not_installed("pypdfium2") from None
    try:
        with pypdfium2.PdfDocument(data) as pdf:
            texts = [page.get_textpage().get_text_bounded().replace("\r\n", "\n").strip() for page in pdf]
    except pypdfium2.PdfiumError as error:
        raise HopgateError(f"{place} cannot be read as a PDF: is it damaged, or locked by a password?") from error
    if not any(texts):
        raise HopgateError(f"{place} holds no text, as a scan does: run it through OCR first, with ocrmypdf for one")
    return texts


def _markdown(place: Place, data: bytes, suffix: str) -> tuple[str, str]:
    """The title and the text of a document; nothing that it refers to is fetched."""
    try:
        from markitdown import MarkItDown, StreamInfo
        from markitdown.converters import DocxConverter, EpubConverter, HtmlConverter
    except ImportError:
        raise _not_installed("markitdown") from None
    # No others: some start programs, unpack archives in archives or ask servers, whatever a file is called.
    reader = MarkItDown(enable_builtins=False, enable_plugins=False)
    kinds: tuple[Any, ...] = (HtmlConverter, DocxConverter, EpubConverter)
    for converter in kinds:
        reader.register_converter(converter())
    try:
        read: Any = reader.convert_stream(io.BytesIO(data), stream_info=StreamInfo(extension=f".{suffix}"))
    except Exception as error:  # its many readers raise whatever they raise
        raise HopgateError(f"{place} cannot be read ({type(error).__name__}): is it damaged?") from error
    return (read.title or "").strip(), read.text_content.strip()


def _refuse_bomb(place: Place, data: bytes, max_mb: int) -> None:
    """Refuse an archive that unpacks to more than a file may hold."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(part.file_size for part in archive.infolist())
    except zipfile.BadZipFile:
        raise HopgateError(f"{place} cannot be read: is it damaged?") from None
    if size > max_mb << 20:
        raise HopgateError(f"{place} unpacks to more than {max_mb} MB: allow more where it is a document, --max-mb")


def _not_installed(library: str) -> HopgateError:
    return HopgateError(f"{library} is not installed: pip install 'hopgate[documents]'")
