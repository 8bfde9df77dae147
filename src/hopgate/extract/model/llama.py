"""Extraction by a local language model: any GGUF file, run by llama.cpp through xllamacpp or llama-cpp-python."""

import hashlib
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hopgate.errors import HopgateError
from hopgate.extract.extraction import ExtractorIdentity
from hopgate.extract.model.chat import ChatExtractor, Reply
from hopgate.guard import check_sending
from hopgate.redact import redacted

# Python packages that run a GGUF file, best first: xllamacpp comes as a wheel, llama-cpp-python is compiled.
RUNTIMES = ("xllamacpp", "llama_cpp")

# A request of the OpenAI kind -> its reply; a failure is a reply with "error".
_Complete = Callable[[dict[str, Any]], dict[str, Any]]
_SAMPLE = 1 << 20
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class Llama(ChatExtractor):
    """Extract with a GGUF model: its own chat template, a JSON-schema grammar, temperature 0 and a seed.

    The prompt is the same for every memory and comes first, so llama.cpp keeps its state in the prefix cache and reads
    only the memories anew. `together` is 1: the prompt is kept either way, and small models mix memories up.
    """

    path: str  # the GGUF file
    window: int = field(default=4096, kw_only=True)
    threads: int | None = None  # CPU threads; llama.cpp's own choice where it is not given
    runtime: str | None = None  # the package that runs the file; the first that is installed where it is not given

    @cached_property
    def identity(self) -> ExtractorIdentity:
        """The file's fingerprint, the prompt, the grammar and what changes the answers."""
        return self._identity("llama", _fingerprint(Path(self.path)), runtime=self.runtime or _installed())

    def ask(self, chat: list[dict[str, str]], schema: dict[str, Any], room: int) -> Reply:
        """Ask the model, one chat at a time; a template that knows no system role gets it inside the first question."""
        request = {
            "messages": chat,
            "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}},
            "temperature": 0.0,
            "seed": self.seed,
            "max_tokens": room,
        }
        with _ONE_AT_A_TIME:
            # After waiting for the lock: other memories were read meanwhile.
            check_sending()
            reply = self._complete(request)
            if "System role not supported" in str(reply.get("error", "")):
                system, first, *rest = chat
                question = {"role": "user", "content": f"{system['content']}\n\n{first['content']}"}
                reply = self._complete({**request, "messages": [question, *rest]})
        if "error" in reply:
            problem = str(reply["error"])
            if "exceed" in problem or "context" in problem:
                return Reply(problem=f"the text is too long for {self.window} tokens", is_too_long=True)
            return Reply(problem=f"the model failed: {redacted(problem)[:200]}")
        choice, usage = reply["choices"][0], reply["usage"]
        return Reply(
            choice["message"]["content"] or "",
            choice["finish_reason"] == "length",
            usage["prompt_tokens"],
            usage["completion_tokens"],
        )

    @cached_property
    def _complete(self) -> _Complete:
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
    for runtime in filter(find_spec, RUNTIMES):
        return runtime
    raise HopgateError("nothing is installed that runs a GGUF file: run pip install 'hopgate[llm]'")


def _xllamacpp(settings: Llama) -> _Complete:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.n_ctx = settings.path, settings.window
    parameters.n_parallel, parameters.warmup, parameters.verbosity = 1, False, -1
    # It opens a port on 127.0.0.1 that nobody needs: without a key, any program of this machine could ask it.
    parameters.api_keys = [secrets.token_hex()]
    parameters.endpoint_slots = parameters.endpoint_props = parameters.endpoint_metrics = parameters.ui = False
    if settings.threads is not None:
        # One reads the prompt, the other writes the answer.
        parameters.cpuparams_batch.n_threads = parameters.cpuparams.n_threads = settings.threads
    complete: _Complete = xllamacpp.Server(parameters).handle_chat_completions
    return complete


def _llama_cpp(settings: Llama) -> _Complete:
    import llama_cpp

    model = llama_cpp.Llama(
        model_path=settings.path,
        n_ctx=settings.window,
        seed=settings.seed,
        n_threads=settings.threads,
        verbose=False,
    )

    def complete(request: dict[str, Any]) -> dict[str, Any]:
        schema = request["response_format"]["json_schema"]["schema"]
        try:
            reply: dict[str, Any] = model.create_chat_completion(
                **{**request, "response_format": {"type": "json_object", "schema": schema}}
            )
        except (ValueError, RuntimeError) as error:
            return {"error": {"message": str(error)}}
        return reply

    return complete


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
