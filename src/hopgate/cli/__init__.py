"""The command line: a group of commands, each imported when it is called."""

import gc
import importlib
import io
import os
import signal
import sys
import warnings

import click

from hopgate.cli.output import printable
from hopgate.errors import HopgateError
from hopgate.redact import redacted

# command -> (module below hopgate.cli, whose attribute of the same name it is; one line for the list of commands)
COMMANDS = {
    "demo": ("demo", "See it work on a synthetic corpus."),
    "add": ("memories", "Remember a text, or the messages of a conversation."),
    "ingest": ("memories", "Read memories from files, folders, exports or a query."),
    "backfill": ("store", "Bring shards of many memories in, in one process or in several."),
    "recall": ("recall", "Recall memories for a query."),
    "context": ("context", "Write what memories say, for an assistant's prompt."),
    "ask": ("context", "Have a language model answer from memories."),
    "list": ("memories:list_memories", "List memories, all or those with some fields."),
    "show": ("memories", "Show a memory and what was made of it."),
    "edges": ("graph", "List the edges of a concept."),
    "status": ("memories", "Say what the store holds and what waits."),
    "watch": ("memories", "Keep up with folders of notes and with what other programs write."),
    "export": ("memories", "Write every memory for other programs."),
    "sync": ("store", "Bring the store and a SQLite file in step."),
    "backup": ("store", "Write the whole store into one file."),
    "restore": ("store", "Load a backup into an empty store."),
    "settings": ("recall", "Show, set and explain how recall is set."),
    "audit": ("recall", "Prove which legs can reach the top k."),
    "cache": ("store", "Inspect or empty the caches on disk."),
    "concepts": ("graph", "Look at concepts, merge them and split them."),
    "curate": ("graph", "Propose what new memories mean for older ones."),
    "log": ("graph", "List what was changed by hand."),
    "undo": ("graph", "Take back what was changed by hand."),
    "graph": ("graph", "Measure the graph or write it for other tools."),
    "dataset": ("evaluate", "Import and check evaluation data."),
    "questions": ("evaluate", "Write and judge questions of one's own."),
    "gate": ("evaluate", "Test whether the graph earns its place."),
    "report": ("evaluate", "Recompute a gate from disk."),
    "mcp": ("serve", "Offer the store to an assistant as tools."),
    "serve": ("serve", "Show the store in a browser and serve it by HTTP."),
    "delete": ("memories", "Delete memories and what only they supported."),
    "sensitive": ("memories", "Mark memories as sensitive and purge what was made of them."),
    "db": ("store", "Upgrade, inspect, start or stop the database."),
    "embed": ("store", "Maintenance: embed memories that have no vector yet, or change the embedder."),
    "extract": ("graph", "Maintenance: extract mentions and facts from memories."),
    "build": ("graph", "Maintenance: build the graph or bring it up to date."),
    "plugins": ("store", "List what other packages add."),
    "completion": ("store", "Print what completes commands and options in a shell."),
}


class LazyGroup(click.Group):
    """The group of all commands: only the one that is called is imported."""

    def list_commands(self, _: click.Context) -> list[str]:
        """Every command's name, in the order of the list."""
        return list(COMMANDS)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        """Import a command; none where there is none of this name."""
        if name not in COMMANDS:
            return None
        module, *function = COMMANDS[name][0].split(":")
        command = getattr(importlib.import_module(f"hopgate.cli.{module}"), *(function or [name]))
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, which imports none."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


application = LazyGroup(
    "hopgate",
    help="Does a concept graph make recall better on my data, and can I trust the answer?",
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
click.version_option(package_name="hopgate", message="hopgate %(version)s", help="Print the version.")(application)


def main(arguments: list[str] | None = None) -> None:
    """Run a command; what a user did wrong is one line on standard error and exit status 2."""
    _set_up()
    if arguments is None:
        # As an exception does, so that a temporary store and its server go with the command.
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        status = application.main(arguments, prog_name="hopgate", standalone_mode=False)
        if arguments is None:
            # The end of a process would look through all that lives, three times (100 ms of CPU).
            gc.freeze()
        if isinstance(status, int) and status:
            sys.exit(status)
    except click.exceptions.NoArgsIsHelpError as error:
        sys.stdout.write(f"{error.format_message()}\n")
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "hopgate"
        _refuse(f"{error.format_message().rstrip('.')}: see {path} --help")
    except click.Abort:
        _refuse("nothing was changed")
    except (HopgateError, click.ClickException) as error:
        _refuse(redacted(str(error)))
    except UnicodeEncodeError:
        _refuse("an argument or a text is not UTF-8: write it in UTF-8")
    except BrokenPipeError:
        # The reader has gone (`hopgate export | head`): not an error of ours. Python flushes once more on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except OSError as error:
        where = f"{error.filename} " if error.filename else ""
        _refuse(f"{where}cannot be used ({error.strerror or error})")
    except KeyboardInterrupt:
        sys.stderr.write("hopgate: interrupted\n")
        sys.exit(130)


def _set_up() -> None:
    warnings.showwarning = _warn
    for stream in (sys.stdout, sys.stderr):
        # JSON is UTF-8 whatever the locale says; what is no text at all, such as some file names, is shown escaped.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _refuse(sentence: str) -> None:
    sys.stderr.write(f"hopgate: {printable(' '.join(sentence.split()))}\n")
    sys.exit(2)


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    sys.stderr.write(f"hopgate: warning: {printable(redacted(str(message)))}\n")
