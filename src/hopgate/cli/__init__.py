"""The command line: one file a command, imported when it is called."""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from typing import Any

from hopgate.cli.printable import printable
from hopgate.errors import HopgateError
from hopgate.redact import redacted

# command -> (module below hopgate.cli, one line for the list of commands)
COMMANDS = {
    "demo": ("demo", "See it work on a synthetic corpus."),
    "add": ("add", "Remember one text."),
    "ingest": ("ingest", "Read memories from files, folders, exports or a query."),
    "backfill": ("backfill", "Bring shards of many memories in, here or on a Ray cluster."),
    "show": ("show", "Show a memory and what was made of it."),
    "edges": ("edges", "List the edges of a concept."),
    "status": ("status", "Say what the store holds and what waits."),
    "watch": ("watch", "Embed and link what other programs write."),
    "export": ("export", "Write every memory, or the graph, for other programs."),
    "backup": ("backup", "Write the whole store into one file."),
    "restore": ("restore", "Load a backup into an empty store."),
    "recall": ("recall", "Recall memories for a query."),
    "settings": ("settings", "Show, set and explain how recall is set."),
    "audit": ("audit", "Prove which legs can reach the top k."),
    "embed": ("embed", "Embed the memories that have no vector yet."),
    "reembed": ("reembed", "Change the store's embedder."),
    "cache": ("cache", "Inspect or empty the caches on disk."),
    "extract": ("extract", "Extract mentions and facts from memories."),
    "build": ("build", "Build the graph or bring it up to date."),
    "concepts": ("concepts", "Look at concepts, merge them and split them."),
    "curate": ("curate", "Propose what new memories mean for older ones."),
    "mend": ("mend", "Show what was changed by hand, and take it back."),
    "graph": ("graph", "Measure the graph or write it for other tools."),
    "dataset": ("dataset", "Import, check and score evaluation data."),
    "questions": ("questions", "Write and judge questions of one's own."),
    "slices": ("slices", "Make multi-hop questions from one's own facts."),
    "gate": ("gate", "Test whether the graph earns its place."),
    "report": ("report", "Recompute a gate from disk."),
    "mcp": ("mcp", "Offer the store to an assistant as tools."),
    "serve": ("serve", "Show the store in a browser and serve it by HTTP."),
    "delete": ("delete", "Delete memories and what only they supported."),
    "sensitive": ("sensitive", "Mark memories as sensitive and purge what was made of them."),
    "db": ("db", "Upgrade, inspect, start or stop the database."),
}

# Commands that are called so often that plain words are read without typer, and what answers them.
QUICK = {"recall": ("recall_answer", "answer")}

# command -> options that may stand alone, and what they then mean
ALONE = {"gate": {"--statements": "own"}}


def main(arguments: list[str] | None = None) -> None:
    """Run a command; a `HopgateError` is one line on standard error and exit status 2."""
    warnings.showwarning = _warn
    for stream in (sys.stdout, sys.stderr):
        # JSON is UTF-8 whatever the locale says; what is no text at all, such as some file names, is shown escaped.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        with _ended_gently():
            application(sys.argv[1:] if arguments is None else arguments)
        if arguments is None:
            # The end of a process would look through all that lives, three times (100 ms of CPU).
            gc.freeze()
    except HopgateError as error:
        sys.stderr.write(f"hopgate: {printable(redacted(str(error)))}\n")
        sys.exit(2)
    except UnicodeEncodeError:
        sys.stderr.write("hopgate: an argument or a text is not UTF-8: write it in UTF-8\n")
        sys.exit(2)
    except BrokenPipeError:
        # The reader has gone (`hopgate export | head`): not an error of ours. Python flushes once more on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except OSError as error:
        where = f"{error.filename} " if error.filename else ""
        sys.stderr.write(f"hopgate: {printable(str(where))}cannot be used ({error.strerror or error})\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.stderr.write("hopgate: interrupted\n")
        sys.exit(130)


@contextlib.contextmanager
def _ended_gently() -> Iterator[None]:
    """Let SIGTERM end a command as an exception does, so that a temporary store and its server go with it."""

    def end(number: int, _: object) -> None:
        sys.exit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _collecting_nothing() -> Iterator[None]:
    """Let the garbage collector rest: a second's work leaves no garbage worth looking for (50 ms of CPU)."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    sys.stderr.write(f"hopgate: warning: {printable(redacted(str(message)))}\n")


def application(arguments: list[str]) -> None:
    """Build only the command that was called, so that nothing else is imported; all of them for the list."""
    called = next((word for word in arguments if not word.startswith("-")), None)
    if called in QUICK and arguments[0] == called:
        with _collecting_nothing():
            from hopgate.cli.plain_options import plain_values

            module, name = QUICK[called]
            function = getattr(importlib.import_module(f"hopgate.cli.{module}"), name)
            values = plain_values(function, arguments[1:])
            if values is not None:
                function(**values)
                return
    app = typer_app([called] if called in COMMANDS else list(COMMANDS))
    app(args=_with_values(arguments, ALONE.get(called or "", {})), prog_name="hopgate", standalone_mode=True)


def _with_values(words: list[str], alone: dict[str, str]) -> list[str]:
    """Give options that stand alone their value: typer knows options with a value and options without, none of both."""
    following = [*words, "-"][1:]
    return [
        f"{word}={alone[word]}" if word in alone and after.startswith("-") else word
        for word, after in zip(words, following, strict=True)
    ]


def typer_app(names: list[str]) -> Any:
    """Make the typer application of some commands."""
    import typer

    import hopgate

    app = typer.Typer(
        name="hopgate",
        help="Does a concept graph make recall better on my data, and can I trust the answer?",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback(invoke_without_command=True)
    def top(version: bool = typer.Option(False, "--version", help="Print the version.")) -> None:
        if version:
            sys.stdout.write(f"hopgate {hopgate.__version__}\n")
            raise typer.Exit

    for name in names:
        module, line = COMMANDS[name]
        command = importlib.import_module(f"hopgate.cli.{module}")
        if hasattr(command, "app"):
            app.add_typer(command.app, name=name, help=line)
        else:
            app.command(name, short_help=line)(command.command)
    return app
