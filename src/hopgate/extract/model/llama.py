"""Extraction by a local language model: any GGUF file, run by llama.cpp through xllamacpp or llama-cpp-python."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
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

# Python packages that run a GGUF file, best first: xllamacpp comes as a wheel, llama-cpp-python is compiled.
RUNTIMES = ("xllamacpp", "llama_cpp")

# A request of the OpenAI kind -> its reply; a failure is a reply with "error".
_Chat = Callable[[dict[str, Any]], dict[str, Any]]
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
        Layers to put on a GPU where the runtime was built for one; -1 is all.
    runtime : {"xllamacpp", "llama_cpp"}, optional
        The package that runs the file; the first that is installed where it is not given.

    Examples
    --------
    >>> Llama("model.gguf", max_tokens=256)
    Llama(path='model.gguf', n_ctx=4096, max_tokens=256, seed=0, halvings=2, together=1, types=...,
          threads=None, gpu_layers=0, runtime=None)
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
    runtime: str | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    @cached_property
    def identity(self) -> ExtractorIdentity:
        """The file's fingerprint, the prompt, the grammar and what changes the answers."""
        model = _fingerprint(Path(self.path))
        parameters: dict[str, str | int] = {
            "n_ctx": self.n_ctx,
            "max_tokens": self.max_tokens,
            "seed": self.seed,
            "halvings": self.halvings,
            "runtime": self.runtime or _installed(),
        }
        if self.together > 1:
            parameters["together"] = self.together
        prompt = f"{PROMPT} {self.types.prompt_text()}".strip()
        return ExtractorIdentity("llama", model, prompt, GRAMMAR, {**parameters})

    def extract(self, sources: Sequence[Source]) -> list[Extraction]:
        """Return one extraction for each source, in order; one at a time, whatever the number of threads."""
        return extract_grouped(
            sources, self.together, self._ask_several, lambda one: extract_in_parts(one, self._ask, self.halvings)
        )

    def answer(self, asked: list[dict[str, str]], schema: dict[str, Any], room: int) -> str:
        """Answer a chat with JSON of a schema; nothing where the model fails, as on too long a text."""
        reply = self._complete(asked, schema, room)
        return "" if "error" in reply else _text(reply)

    def _ask(self, source: Source) -> Extraction:
        reply = self._complete(messages(source.text, self.types.prompt_text()), SCHEMA, self.max_tokens)
        if "error" in reply:
            problem = str(reply["error"])
            if "exceed" in problem or "context" in problem:
                return Extraction(state=State.TRUNCATED, reason=f"the text is too long for {self.n_ctx} tokens")
            return failed(f"the model failed: {redacted(problem)[:200]}")
        extraction = read_answer(_text(reply), source, cut=_cut(reply))
        return extraction.spent(reply["usage"]["prompt_tokens"], reply["usage"]["completion_tokens"])

    def _ask_several(self, group: Sequence[Source]) -> list[Extraction | None]:
        asked = several_messages([source.text for source in group], self.types.prompt_text())
        reply = self._complete(asked, SEVERAL_SCHEMA, min(self.n_ctx // 2, self.max_tokens * len(group)))
        if "error" in reply:
            # Too long together: each is asked about by itself, which says why where it fails again.
            return [None] * len(group)
        extractions = read_several(_text(reply), group, cut=_cut(reply))
        return shared_out(extractions, reply["usage"]["prompt_tokens"], reply["usage"]["completion_tokens"])

    def _complete(self, asked: list[dict[str, str]], schema: dict[str, Any], room: int) -> dict[str, Any]:
        """Return the reply to a chat; a template that knows no system role gets it inside the first question."""
        request = {
            "messages": asked,
            "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}},
            "temperature": 0.0,
            "seed": self.seed,
            "max_tokens": room,
        }
        with self._lock:
            # After waiting for the lock: other memories were read meanwhile.
            check_sending()
            reply = self._chat(request)
            if "System role not supported" in str(reply.get("error", "")):
                system, first, *rest = asked
                question = {"role": "user", "content": f"{system['content']}\n\n{first['content']}"}
                reply = self._chat({**request, "messages": [question, *rest]})
            return reply

    @cached_property
    def _chat(self) -> _Chat:
        _fingerprint(Path(self.path))
        runtime = self.runtime or _installed()
        if runtime not in RUNTIMES or find_spec(runtime) is None:
            raise HopgateError(f"the runtime {runtime} is not installed: give one of {', '.join(RUNTIMES)}, or none")
        try:
            return _xllamacpp(self) if runtime == "xllamacpp" else _llama_cpp(self)
        except (ValueError, RuntimeError, OSError) as error:
            raise HopgateError(f"{self.path} cannot be loaded as a GGUF model: {error}") from error


def _installed() -> str:
    """Return the first runtime that is installed."""
    for runtime in RUNTIMES:
        if find_spec(runtime) is not None:
            return runtime
    raise HopgateError("nothing is installed that runs a GGUF file: run pip install 'hopgate[llm]'")


def _xllamacpp(settings: Llama) -> _Chat:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = settings.path
    chosen = {
        "n_ctx": settings.n_ctx,
        "n_parallel": 1,
        "n_gpu_layers": settings.gpu_layers,
        "warmup": False,
        "verbosity": -1,
        # It opens a port on 127.0.0.1 that nobody needs: without a key, any program of this machine could ask it.
        "api_keys": [secrets.token_hex()],
        "endpoint_slots": False,
        "endpoint_props": False,
        "endpoint_metrics": False,
        "ui": False,
    }
    # One reads the prompt, the other writes the answer.
    threads = {} if settings.threads is None else {"n_threads": settings.threads}
    for part, values in (
        (parameters, chosen),
        (parameters.cpuparams_batch, threads),
        (parameters.cpuparams, threads),
    ):
        for name, value in values.items():
            setattr(part, name, value)
    chat: _Chat = xllamacpp.Server(parameters).handle_chat_completions
    return chat


def _llama_cpp(settings: Llama) -> _Chat:
    import llama_cpp

    model = llama_cpp.Llama(
        model_path=settings.path,
        n_ctx=settings.n_ctx,
        seed=settings.seed,
        n_threads=settings.threads,
        n_gpu_layers=settings.gpu_layers,
        verbose=False,
    )

    def chat(request: dict[str, Any]) -> dict[str, Any]:
        schema = request["response_format"]["json_schema"]["schema"]
        try:
            reply: dict[str, Any] = model.create_chat_completion(
                **{**request, "response_format": {"type": "json_object", "schema": schema}}
            )
        except (ValueError, RuntimeError) as error:
            return {"error": {"message": str(error)}}
        return reply

    return chat


def _text(reply: dict[str, Any]) -> str:
    return reply["choices"][0]["message"]["content"] or ""


def _cut(reply: dict[str, Any]) -> bool:
    """Whether the answer ended because it was as long as allowed."""
    return bool(reply["choices"][0]["finish_reason"] == "length")


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
