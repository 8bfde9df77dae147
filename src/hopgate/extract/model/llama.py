"""Extraction by a local language model: any GGUF file, through llama-cpp-python."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Extraction, Source, State, failed
from hopgate.extract.extractor import ExtractorIdentity
from hopgate.extract.model.answer import read_answer
from hopgate.extract.model.prompt import GRAMMAR, PROMPT, SCHEMA, SEVERAL_SCHEMA, messages, several_messages
from hopgate.extract.model.several import extract_grouped, read_several, shared_out
from hopgate.extract.model.split_text import MAX_SPLITS, extract_in_parts
from hopgate.extract.model.type_table import TypeTable
from hopgate.redact import redacted
from hopgate.sending import check_sending

_SAMPLE = 1 << 20


@dataclass(frozen=True)
class Llama:
    """Extract with a GGUF model: its own chat template, a JSON-schema grammar, temperature 0 and a seed.

    The few-shot prompt is the same for every memory and comes first, so llama.cpp keeps its state in the prefix cache
    and reads only the memory anew.

    Parameters
    ----------
    path : str
        The GGUF file.
    n_ctx, max_tokens : int
        Tokens the model holds, and the most it may write about one memory.
    halvings : int
        How often a text whose answer was cut is halved and asked about again; each time costs as much again.
    together : int
        So many memories go into one call, each with an id, where they and the answer fit into the context; what the
        answer lacks is asked for by itself. The prompt is kept either way, and small models mix memories up: 1.
    types : TypeTable
        The kinds and relations that are wanted.
    threads : int, optional
        CPU threads; llama.cpp's own choice where it is not given.
    gpu_layers : int
        Layers to put on a GPU where llama-cpp-python was built for one; -1 is all.

    Examples
    --------
    >>> Llama("model.gguf", max_tokens=256)
    Llama(path='model.gguf', n_ctx=4096, max_tokens=256, seed=0, halvings=2, together=1, types=...,
          threads=None, gpu_layers=0)
    """

    path: str
    n_ctx: int = 4096
    max_tokens: int = 1024
    seed: int = 0
    halvings: int = MAX_SPLITS
    together: int = 1
    types: TypeTable = field(default_factory=TypeTable)
    threads: int | None = None
    gpu_layers: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    @cached_property
    def identity(self) -> ExtractorIdentity:
        """The file's fingerprint, the prompt, the grammar and what changes the answers."""
        parameters = {"n_ctx": self.n_ctx, "max_tokens": self.max_tokens, "seed": self.seed, "halvings": self.halvings}
        if self.together > 1:
            parameters["together"] = self.together
        prompt = f"{PROMPT} {self.types.prompt_text()}".strip()
        return ExtractorIdentity("llama", _fingerprint(Path(self.path)), prompt, GRAMMAR, {**parameters})

    def extract(self, sources: Sequence[Source]) -> list[Extraction]:
        """Return one extraction for each source, in order; one at a time, whatever the number of threads."""
        return extract_grouped(
            sources, self.together, self._ask_several, lambda one: extract_in_parts(one, self._ask, self.halvings)
        )

    def answer(self, asked: list[dict[str, str]], schema: dict[str, Any], room: int) -> str:
        """Answer a chat with JSON of a schema; nothing where the model fails, as on too long a text."""
        try:
            return self._complete(self._for_template(asked), schema, room)["choices"][0]["message"]["content"] or ""
        except (ValueError, RuntimeError):
            return ""

    def _complete(self, asked: list[dict[str, str]], schema: dict[str, Any], room: int) -> Any:
        with self._lock:
            # After waiting for the lock: other memories were read meanwhile.
            check_sending()
            return self._model.create_chat_completion(
                messages=asked,
                response_format={"type": "json_object", "schema": schema},
                temperature=0.0,
                seed=self.seed,
                max_tokens=room,
            )

    def _ask(self, source: Source) -> Extraction:
        try:
            asked = self._for_template(messages(source.text, self.types.prompt_text()))
            reply = self._complete(asked, SCHEMA, self.max_tokens)
        except (ValueError, RuntimeError) as error:
            if "exceed" in str(error) or "context" in str(error):
                return Extraction(state=State.TRUNCATED, reason=f"the text is too long for {self.n_ctx} tokens")
            return failed(f"the model failed: {redacted(str(error))[:200]}")
        choice, usage = reply["choices"][0], reply["usage"]
        text = choice["message"]["content"] or ""
        extraction = read_answer(text, source, cut=choice["finish_reason"] == "length")
        return extraction.spent(usage["prompt_tokens"], usage["completion_tokens"])

    def _ask_several(self, group: Sequence[Source]) -> list[Extraction | None]:
        asked = self._for_template(several_messages([source.text for source in group], self.types.prompt_text()))
        try:
            reply = self._complete(asked, SEVERAL_SCHEMA, min(self.n_ctx // 2, self.max_tokens * len(group)))
        except (ValueError, RuntimeError):
            # Too long together: each is asked about by itself, which says why where it fails again.
            return [None] * len(group)
        choice, usage = reply["choices"][0], reply["usage"]
        found = read_several(choice["message"]["content"] or "", group, cut=choice["finish_reason"] == "length")
        return shared_out(found, usage["prompt_tokens"], usage["completion_tokens"])

    def _for_template(self, chat: list[dict[str, str]]) -> list[dict[str, str]]:
        """Return the chat; a template that knows no system role gets it inside the first question."""
        template = self._model.metadata.get("tokenizer.chat_template", "")
        if "System role not supported" in template:
            system, first, *rest = chat
            return [{"role": "user", "content": f"{system['content']}\n\n{first['content']}"}, *rest]
        return chat

    @cached_property
    def _model(self) -> Any:
        try:
            import llama_cpp
        except ImportError as error:
            raise HopgateError("llama-cpp-python is not installed: run pip install 'hopgate[llm]'") from error
        _fingerprint(Path(self.path))
        try:
            return llama_cpp.Llama(
                model_path=self.path,
                n_ctx=self.n_ctx,
                seed=self.seed,
                n_threads=self.threads,
                n_gpu_layers=self.gpu_layers,
                verbose=False,
            )
        except (ValueError, RuntimeError, OSError) as error:
            raise HopgateError(f"{self.path} cannot be loaded as a GGUF model: {error}") from error


def _fingerprint(path: Path) -> str:
    """Return name, size and a hash of the file's beginning and end: no need to read gigabytes."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(_SAMPLE)
            file.seek(max(0, size - _SAMPLE))
            tail = file.read(_SAMPLE)
    except OSError as error:
        raise HopgateError(
            f"the model file {path} cannot be read ({error.strerror}): give a GGUF file's path"
        ) from error
    if head[:4] != b"GGUF":
        raise HopgateError(f"{path} is not a GGUF file: give one, e.g. a Q4_K_M quantisation of an instruct model")
    return f"{path.name} {size} {hashlib.sha256(head + tail).hexdigest()[:16]}"
