"""What commands take: arguments that explain themselves, where the store is, and options that several share."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hopgate.cli import output
from hopgate.errors import HopgateError
from hopgate.options import Option, options_of
from hopgate.times import utc

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase
    from hopgate.store.store import Store

Made = TypeVar("Made")
# More rows than any store has, and far from the end of what PostgreSQL and C count with.
MOST = 1_000_000_000
PATH = click.Path(path_type=Path)
BACKUPS = "backups"


class Declared(click.ParamType[Any]):
    """A value that a declared setting reads and checks."""

    def __init__(self, option: Option) -> None:
        self.option = option
        self.name = {int: "n", float: "x", Path: "path"}.get(option.kind, "text")

    def convert(self, value: Any, _parameter: click.Parameter | None, _context: click.Context | None) -> Any:
        """Read it; what it may not be is refused in the setting's words."""
        if not isinstance(value, str):
            return value
        # Of known choices all are given at once, and none may be.
        whole = not self.option.several or self.option.choices
        return self.option.read(value, self.option.flag) if whole else self.option.read_one(value, self.option.flag)

    def shell_complete(self, _context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[Any]:
        """Give the choices that begin so."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(choice) for choice in self.option.choices if choice.startswith(incomplete)]


def click_options(
    declared: type[Any] | Iterable[Option], only: Collection[str] = (), *, switchable: bool = False
) -> Callable[[Any], Any]:
    """Make a decorator that gives a command an option for each declared setting, None where it is not given.

    Of a dataclass all settings are taken, or `only` some. A `switchable` flag can be switched off, too, as one that may
    be on already must be.
    """
    options = options_of(declared) if isinstance(declared, type) else declared

    def made(option: Option) -> Callable[[Any], Any]:
        repeated = option.several and not option.choices
        text = option.meaning[:1].upper() + option.meaning[1:] + ("; again for more." if repeated else ".")
        names = [option.flag, option.name]
        if option.kind is bool:
            names[0] += f"/--no-{option.flag[2:]}" if switchable else ""
            return click.option(*names, is_flag=True, default=None, help=text, show_default=False)
        more: dict[str, Any] = {"is_flag": False, "flag_value": option.alone} if option.alone else {}
        text += f" Default: {option.default_in_words}." if option.default_in_words else ""
        metavar = f"[{'|'.join(option.choices)}]{',…' * option.several}" if option.choices else None
        kind = Declared(option)
        return click.option(*names, type=kind, multiple=repeated, metavar=metavar, help=text, **more)

    return together(*(made(option) for option in options if not only or option.name in only))


def together(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Make one decorator of several options, which are listed in this order."""

    def decorate(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def flag(name: str, help: str, *names: str, **more: Any) -> Callable[[Any], Any]:
    """Declare an option without a value."""
    return click.option(name, *names, is_flag=True, help=help, **more)


def several(name: str, help: str, *names: str, **more: Any) -> Callable[[Any], Any]:
    """Declare an option that may be given again."""
    return click.option(name, *names, multiple=True, help=help, **more)


def path(name: str, help: str, **more: Any) -> Callable[[Any], Any]:
    """Declare an option that takes a file or a folder."""
    return click.option(name, type=PATH, help=help, **more)


def arguments(name: str, help: str, metavar: str, **more: Any) -> Callable[[Any], Any]:
    """Declare an argument that is given at least once."""
    return click.argument(name, help=help, metavar=metavar, nargs=-1, required=True, **more)


def count(name: str, help: str, default: int | None = None, *, most: int = MOST, **more: Any) -> Callable[[Any], Any]:
    """Declare an option that counts, from 1."""
    kind = Declared(Option(name.strip("-"), int, default, help, low=1, high=most))
    return click.option(name, type=kind, default=default, help=help, **more)


def date(text: str) -> datetime:
    """Read a date or a time; what is none is refused with one that would do."""
    return utc(text)


def read_text(_context: click.Context, _parameter: click.Parameter, text: str) -> str:
    """Give an argument that is a text; `-` stands for what is on standard input."""
    if text != "-":
        return text
    if sys.stdin is None:
        raise HopgateError("standard input is closed: give the text, or pipe it in")
    return sys.stdin.read().strip()


class Location:
    """Where the options say that the store is; none leaves it to the environment and the default."""

    def __init__(self, data: str | None = None, dsn: str | None = None) -> None:
        self.place: str | Path | None = None
        if data is None and dsn is None:
            return
        from hopgate.store.connect import check_address, check_folder

        if data is not None and dsn is not None:
            raise HopgateError("--data and --dsn name two stores: give one of them")
        self.place = check_folder(data) if data is not None else check_address(str(dsn))

    def opened(self, *, create: bool = False) -> KnowledgeBase:
        """Open the knowledge base; an embedded server stays up, so that the next command finds it."""
        import hopgate
        from hopgate.store.server import COMMAND_S, linger_seconds

        self.located(create=create)
        return hopgate.open(self.place, linger=linger_seconds(COMMAND_S))

    def located(self, *, create: bool) -> str | Path:
        """The server's address, or the folder: one that is no store is refused where none is to be made."""
        from hopgate.store.connect import located

        at = located(self.place)
        if not create and isinstance(at, Path) and not at.is_file() and not (at / "pg").exists():
            raise HopgateError(f"there is no store in {at}: hopgate add or ingest makes one, --data names another")
        return at

    @contextlib.contextmanager
    def reached(self, *, create: bool = False) -> Iterator[Store]:
        """Reach the database, whose schema may be of any version, or not be there."""
        from hopgate.store.connect import explained
        from hopgate.store.server import EmbeddedServer
        from hopgate.store.store import Store

        at = self.located(create=create)
        server = EmbeddedServer(at) if isinstance(at, Path) else None
        with explained(), Store(server.dsn if server else str(at), server) as store:
            yield store


def on_store(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say where its store is, and `location` in their place."""

    @click.option(
        "--data", metavar="PATH", help="Directory of the embedded store.", show_default="the user's data directory"
    )
    @click.option("--dsn", metavar="ADDRESS", help="Address of a server, postgresql://…, instead of --data.")
    @functools.wraps(function)
    def placed(data: str | None, dsn: str | None, **given: Any) -> Any:
        return function(location=Location(data, dsn), **given)

    return placed


def printed(function: Callable[..., Any]) -> Any:
    """Give a command `--format` and `--json`, and print what it returns: a value, or what `output.show` takes."""

    @formatted
    @functools.wraps(function)
    def shown(**given: Any) -> None:
        result = function(**given)
        if result is not None:
            output.show(*(result if isinstance(result, tuple) else (result,)))

    return shown


def _with_store(create: bool, function: Callable[..., Any]) -> Any:
    @on_store
    @printed
    @functools.wraps(function)
    def opened(location: Location, **given: Any) -> Any:
        with location.opened(create=create) as kb:
            return function(kb, **given)

    return opened


# Give a command an open store as its first argument, and print what it returns; the second makes one where none is.
with_store = functools.partial(_with_store, False)
with_new_store = functools.partial(_with_store, True)
formatted = together(
    click.option(
        "--format",
        type=click.Choice(output.FORMATS),
        help="How it is printed: for a person, as lines of cells parted by tabs, or as one JSON value.",
        show_default="text on a terminal, tsv on a pipe",
        expose_value=False,
        callback=output.choose_format,
    ),
    flag("--json", "The same as --format json.", expose_value=False, callback=output.choose_format),
)
yes = flag("--yes", "Do it without asking, as a script must.")
backup_first = click.option("--backup/--no-backup", "backup", default=True, help="Write a backup first.")
limit = count("--limit", "How many.", 50)
in_time = together(
    click.option("--as-of", type=date, help="Only what was true on this date."),
    click.option("--known-at", type=date, help="Only what was known by this date."),
)
where = click.option(
    "--where",
    metavar="JSON",
    help="""Only memories with these fields: '{"tags": "home", "extra.price": {"lt": 10}}'.""",
)
filters = together(
    several("--scope", "Only memories of this scope; may be given again."),
    several("--exclude", "Leave out this _id; may be given again."),
    in_time,
    where,
)
scope = several(
    "--scope",
    "Only what memories of this scope say; again for more.",
    show_default="all",
    callback=lambda _context, _parameter, scopes: scopes or None,
)
extractor = click.option(
    "--extractor", help="What links: phrases, rules, llama or openai.", show_default="phrases or rules, as made it"
)


def values(given: dict[str, Any]) -> dict[str, Any]:
    """Leave out the options that were not given."""
    return {name: value for name, value in given.items() if value is not None and value != ()}


def made(cls: type[Made], given: dict[str, Any], **more: Any) -> Made:
    """Make declared settings of a command's options; those that are taken leave `given`."""
    taken = {option.name: given.pop(option.name) for option in options_of(cls) if option.name in given}
    return cls(**values(taken), **more)


def ask(action: str, *, yes: bool, store: Store | None = None) -> None:
    """Ask on a terminal whether to do something, to a store, which is named; anywhere else `--yes` is needed."""
    if yes:
        return
    if store is not None:
        from hopgate.store.connect import shown

        action += f", in {shown(store.directory or store.dsn)}"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise HopgateError(f"this would {action}: add --yes to do it without being asked")
    if not click.confirm(f"This will {action}. Do it?", err=True):
        raise HopgateError("nothing was changed")


def back_up(store: Store, before: str) -> None:
    """Write a backup of a store before a command changes it, and say where it is; none of a store without memories."""
    from hopgate.files import private_folder
    from hopgate.store.backup import has_memories, write_backup
    from hopgate.store.server import default_directory

    if not has_memories(store):
        return
    folder = (store.directory or default_directory()) / BACKUPS
    private_folder(folder)
    path = folder / f"before-{before}-{datetime.now(UTC):%Y%m%d-%H%M%S-%f}.hopgate"
    write_backup(store, path)
    sys.stderr.write(f"hopgate: a backup of what there was is in {path}; hopgate restore reads it\n")
