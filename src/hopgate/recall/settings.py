"""How recall is set: the store, a file, the environment and arguments, the later one winning, anew for every query."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

from hopgate.errors import HopgateError
from hopgate.graph.walk.config import PARTS, Part, Walk, walk_of
from hopgate.memory import check_several
from hopgate.options import as_rows, check, environment_values, from_toml, options_of, setting
from hopgate.recall.fusers import LEGS, MAX_WEIGHT, RRF, Fuser, Weighted, parse
from hopgate.recall.lexical import DEFAULT_RANKER, MIN_RANK, LexicalRanker
from hopgate.store import setting_rows
from hopgate.store.graph import version
from hopgate.store.rows import Connection

if TYPE_CHECKING:
    from hopgate.store.store import Store

SortBy = Literal["relevance", "importance", "recency"]
MAX_DEPTH = 1000  # hnsw.ef_search ends there
MAX_TIMEOUT_S = 3600
FILE = "settings.toml"
BUNDLED_RERANKER = "bundled"
BY_HAND = "hopgate settings"

# Of reciprocal ranks, min-max sums and their weights the best on the dev halves of musique, 2wiki and locomo together,
# within .01, among those that bar no leg: what one leg alone finds and puts first enters the top ten where the others
# agree and where they have nothing in common, and did so on four of ten questions (docs/measurements.md).
DEFAULT_FUSER = RRF(k=0.0, lexical=0.16, dense=0.16, late=1.0, graph=0.4)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides a recall's order; prints as itself and is saved beside every result.

    `hopgate settings` and docs/guide/settings.md list what each is for.

    Examples
    --------
    >>> Settings().replaced({"graph": 0.5, "k": 5}).fuser
    RRF(k=0, lexical=0.16, dense=0.16, late=1, graph=0.5)
    """

    fuser: Fuser = setting(DEFAULT_FUSER, "how the legs' lists become one ranking; it carries the legs' weights")
    k: int = setting(10, "how many hits are returned", low=1, high=MAX_DEPTH)
    depth: int = setting(50, "how many memories each leg lists", low=1, high=MAX_DEPTH)
    prior: float = setting(0.7, "what a memory of importance 0 keeps of its score; 1 is no prior", low=0, high=1)
    sort_by: SortBy = setting(
        "relevance", "the order of the hits; importance multiplies by all of it, recency puts the newest of them first"
    )
    exact_match: float = setting(0.0, "bonus of an exact match, as a leg's weight; 0 is none", low=0, high=MAX_WEIGHT)
    rerank: bool = setting(False, "whether a cross-encoder reads the fused top again, where relevance is the order")
    rerank_depth: int = setting(30, "how many of the fused top the cross-encoder reads", low=1, high=MAX_DEPTH)
    rerank_timeout: float = setting(
        2.0,
        "seconds it may take; what it has read by then is used",
        above=0,
        high=MAX_TIMEOUT_S,
    )
    rerank_model: str = setting(BUNDLED_RERANKER, "the cross-encoder: bundled, or a sentence-transformers name or path")
    lexical_ranker: LexicalRanker = setting(DEFAULT_RANKER, "how the lexical leg ranks")
    min_rank: float = setting(
        MIN_RANK, "the least ts_rank of a memory that has some of a query's words and not every one", low=0, high=1
    )
    min_score: float | None = setting(None, "the least score of a hit, in the fuser's own unit; none keeps all")
    min_similarity: float | None = setting(
        None,
        "the least likeness of a hit to the query, by its words' tokens, else its vector; none keeps all",
        low=0,
        high=1,
    )
    walk: Walk | None = setting(
        None, 'the graph leg\'s walk by its fields, such as {"damping": 0.7}; none is the measured one'
    )
    parts: tuple[Part, ...] = setting(PARTS, "the parts of the graph that are used; none is recall without a graph")

    def __post_init__(self) -> None:
        check(self)
        if not self.rerank_model.strip():
            raise HopgateError(f"rerank_model must be {BUNDLED_RERANKER!r} or a model's name, not ''")
        object.__setattr__(self, "parts", tuple(part for part in PARTS if part in self.parts))

    @property
    def reads(self) -> int:
        """How many of the fused top the cross-encoder reads: none unless relevance, which it judges, is the order."""
        return self.rerank_depth if self.rerank and self.sort_by == "relevance" else 0

    @property
    def floor(self) -> float:
        """What a memory of importance 0 keeps of its score: nothing where importance is the order."""
        return 0.0 if self.sort_by == "importance" else self.prior

    def replaced(self, changes: Mapping[str, Any]) -> Settings:
        """Give these settings with some changed.

        A leg's name changes its weight; `fuser` may be text, and `walk` its fields or JSON.
        """
        if unknown := sorted(set(changes) - set(OPTIONS)):
            raise HopgateError(f"there is no setting {unknown[0]!r}: there are {', '.join(OPTIONS)}")
        fuser = changes.get("fuser", self.fuser)
        if isinstance(fuser, str):
            fuser = parse(fuser)
        if not isinstance(fuser, Fuser):
            raise HopgateError(f"fuser must be a fuser as it prints, such as {RRF()!r}, not {fuser!r}")
        fuser = fuser.reweighed(**{name: changes[name] for name in LEGS if name in changes})
        rest = {name: value for name, value in changes.items() if name not in (*LEGS, "fuser")}
        if rest.get("walk") is not None:
            rest["walk"] = walk_of(rest["walk"])
        return replace(self, fuser=fuser, **rest)

    def only(self, legs: Sequence[str]) -> Settings:
        """Give these settings with every leg switched off that is not named; an unknown name is refused.

        Examples
        --------
        >>> Settings().only(["lexical"]).fuser
        RRF(k=0, lexical=0.16, dense=0, late=0, graph=0)
        """
        check_several(legs, "legs")
        weights = self.fuser.weights
        if unknown := [name for name in legs if name not in weights]:
            raise HopgateError(f"there is no leg {unknown[0]!r}: there are {', '.join(weights)}")
        return replace(self, fuser=self.fuser.reweighed(**{name: 0.0 for name in weights if name not in legs}))

    def to_dict(self) -> dict[str, Any]:
        """Give each setting by its name, the weights of the standard legs first, as JSON has it.

        Examples
        --------
        >>> values = Settings().to_dict()
        >>> values["graph"], values["k"], values["walk"]
        (0.4, 10, None)
        """
        values = {row.name: getattr(self, row.name) for row in fields(self)}
        shown = {"fuser": repr(self.fuser), "walk": self.walk and asdict(self.walk)}
        return {**self.fuser.weights, **values, **shown}


class RecallOptions(TypedDict, total=False):
    """The types of `OPTIONS`, for mypy: settings that one recall may change."""

    lexical: float
    dense: float
    late: float
    graph: float
    fuser: Fuser | str
    k: int
    depth: int
    prior: float
    sort_by: SortBy
    exact_match: float
    rerank: bool
    rerank_depth: int
    rerank_timeout: float
    rerank_model: str
    lexical_ranker: LexicalRanker
    min_rank: float
    min_score: float | None
    min_similarity: float | None
    walk: Walk | Mapping[str, Any] | str | None
    parts: Sequence[Part]


OPTIONS = {
    **{option.name: replace(option, default=DEFAULT_FUSER.weights[option.name]) for option in options_of(Weighted)},
    **{option.name: option for option in options_of(Settings)},
}
"""Every setting of recall by its name, the weights of the standard legs first."""


class Resolved(NamedTuple):
    """Settings, and who set each last, by its name; the legs' weights are among them."""

    settings: Settings
    sources: Mapping[str, str]


def resolve_settings(
    directory: Path | None = None,
    environ: Mapping[str, str] | None = None,
    arguments: Mapping[str, Any] | None = None,
    stored: Mapping[str, tuple[Any, str]] | None = None,
) -> Resolved:
    """Resolve the settings: defaults, then the store, then the file, then the environment, then arguments.

    The file is what `HOPGATE_SETTINGS` names, or `settings.toml` in the data directory. A variable is the setting's
    name in capitals behind `HOPGATE_`, for instance `HOPGATE_GRAPH=2`.

    Parameters
    ----------
    arguments : mapping of setting name to value, optional
        Those of a call; None leaves a setting as it is.
    stored : mapping of setting name to (value, source)
        What the store holds.

    Examples
    --------
    >>> made = resolve_settings(environ={"HOPGATE_K": "20"}, stored={"fuser": ("RRF(k=60)", "gate 1f3c")})
    >>> made.settings.k, made.sources["k"], made.sources["graph"], made.sources["depth"]
    (20, 'HOPGATE_K', 'gate 1f3c', 'default')
    """
    environ = os.environ if environ is None else environ
    # How an error names a place, and the value and the source of each setting there.
    places = [("the store's settings: ", stored or {})]
    named = environ.get("HOPGATE_SETTINGS")
    path = Path(named) if named else directory / FILE if directory else None
    if path is not None and (named or path.exists()):
        written = from_toml(path, "the settings file ")
        places.append((f"the settings file {path}: ", {name: (value, str(path)) for name, value in written.items()}))
    values = environment_values(OPTIONS.values(), environ)
    places.append(("the environment: ", {name: (values[name], OPTIONS[name].variable) for name in values}))
    given = {name: value for name, value in (arguments or {}).items() if value is not None}
    places.append(("", {name: (value, "this call") for name, value in given.items()}))
    settings, sources = Settings(), dict.fromkeys(OPTIONS, "default")
    for place, rows in places:
        try:
            settings = settings.replaced({name: value for name, (value, _) in rows.items()})
        except HopgateError as error:
            raise HopgateError(f"{place}{error}") from None
        if "fuser" in rows:
            # A fuser brings its weights.
            sources |= dict.fromkeys(LEGS, rows["fuser"][1])
        sources |= {name: source for name, (_, source) in rows.items()}
    return Resolved(settings, sources)


class StoreSettings:
    """A store's own settings, and how they resolve with the file and the environment.

    Examples
    --------
    >>> import tempfile, hopgate
    >>> with tempfile.TemporaryDirectory() as folder, hopgate.open(folder) as kb:
    ...     kb.store_settings.set({"k": 5})
    ...     kb.settings().k, kb.store_settings.resolve().sources["k"]
    (5, 'hopgate settings')
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def resolve(self, changes: Mapping[str, Any] | None = None) -> Resolved:
        """Resolve the settings of the next query and say where each comes from; `changes` are the query's own."""
        with self._store.transaction() as connection:
            stored = setting_rows.read(connection)
        return resolve_settings(self._store.directory, arguments=changes, stored=stored)

    def rows(self) -> list[dict[str, Any]]:
        """Every setting with its value, where that comes from, what it is for, its default and what it may be."""
        resolved = self.resolve()
        values = resolved.settings.to_dict()
        rows: list[dict[str, Any]] = [
            {**row, "value": values[row["name"]], "source": resolved.sources[row["name"]]}
            for row in as_rows(OPTIONS.values())
        ]
        for name, (known, meaning) in setting_rows.STORE_SETTINGS.items():
            own = {"name": name, "value": self.own(name), "source": "the store", "meaning": meaning}
            rows.append({**own, "default": known[0], "limits": ", ".join(known)})
        return rows

    def set(self, changes: Mapping[str, Any], *, source: str = BY_HAND) -> None:
        """Set some for this store, from the next query on; what is not a setting's value is refused."""
        if changes.get("late") in ("off", "bundled"):
            # Of a weight it is no value: who says that means whether the store does without.
            changes = {setting_rows.LATE if name == "late" else name: value for name, value in changes.items()}
        own = {name: value for name, value in changes.items() if name in setting_rows.STORE_SETTINGS}
        checked = _checked({name: value for name, value in changes.items() if name not in own}) | own

        def write(connection: Connection) -> None:
            for name, value in own.items():
                setting_rows.check_own(connection, name, value)
            setting_rows.write(connection, checked, source)

        self._store.run(write)

    def unset(self, names: Sequence[str]) -> None:
        """Forget some: the file, the environment or the default decides again."""
        if unknown := [name for name in names if name not in (*OPTIONS, *setting_rows.STORE_SETTINGS)]:
            raise HopgateError(f"there is no setting {unknown[0]!r}: there are {', '.join(OPTIONS)}")

        def remove(connection: Connection) -> list[str]:
            for name in setting_rows.STORE_SETTINGS.keys() & set(names):
                setting_rows.check_own(connection, name, setting_rows.STORE_SETTINGS[name].values[0])
            return setting_rows.remove(connection, names)

        gone = self._store.run(remove)
        if missing := [name for name in names if name not in gone]:
            raise HopgateError(f"this store does not set {missing[0]!r}: hopgate settings shows where it comes from")

    def apply_gate(self, fingerprint: str, *, fuser: str, depth: int, parts: Sequence[Part]) -> None:
        """Make what a gate chose this store's own: fuser, depth and parts of the graph, with the gate's fingerprint.

        Weights that were set by hand go: the fuser carries them.
        """
        values = {"fuser": fuser, "depth": depth, "parts": parts}
        with self._store.transaction() as connection:
            setting_rows.remove(connection, LEGS)
            looked_at = {setting_rows.GRAPH_VERSION: version.current(connection)}
            setting_rows.write(connection, _checked(values) | looked_at, f"gate {fingerprint}")

    def own(self, name: str) -> str:
        """Give a setting that the store's owner alone decides: `scopes` or `late_model`."""
        with self._store.transaction() as connection:
            return setting_rows.own(connection, name)

    def stale_gate(self) -> str | None:
        """The gate that was applied, where the graph has been changed since."""
        with self._store.transaction() as connection:
            return setting_rows.gate_is_behind(connection)


def _checked(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse what recall would refuse; each value is kept as JSON has it."""
    values = Settings().replaced(changes).to_dict()
    return {name: values[name] for name in changes}
