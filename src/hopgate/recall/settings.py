"""How recall is set: the store, a file, the environment and arguments, the later one winning, anew for every query."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypedDict, get_args

from hopgate.errors import HopgateError
from hopgate.graph.walk.config import Walk, walk_of
from hopgate.memory import check_several
from hopgate.recall.fuse import RRF, STANDARD, AnyFuser, ExactMatch, Importance, MinMax, SortBy, parse
from hopgate.recall.fuse.weights import finite
from hopgate.recall.legs.lexical import DEFAULT_RANKER, LexicalRanker, check_ranker
from hopgate.recall.stages import Stages

MAX_DEPTH = 1000  # hnsw.ef_search ends there
MAX_TIMEOUT_S = 3600
PREFIX = "HOPGATE_"
FILE = "settings.toml"
BUNDLED_RERANKER = "bundled"
# What the environment gives as text, as true or false, and as a whole number; all else is a number.
_TEXTS, _FLAGS = ("fuser", "sort_by", "rerank_model", "stages", "lexical_ranker", "walk"), ("rerank",)
_WHOLE = ("k", "depth", "rerank_depth")

# Base to graph 1 : 100, the base in its own proportions. The walk starts from the base and so holds it already: fused
# again at more than that it falls back towards the base, which is there to break ties. Best on dev of musique, level
# on 2wiki, within .002 of the best on locomo (docs/research/retest.md). A store without a graph is left with the base.
DEFAULT_FUSER = MinMax(lexical=0.015, dense=0.035, graph=5)

# Ending with a walk is what the cross-encoder's reading is best used for: docs/research/rerank.md.
DEFAULT_STAGES = Stages("fuse > rerank > walk")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides a recall's order; prints as itself and is saved beside every result.

    Parameters
    ----------
    fuser : MinMax, RRF, StretchedRRF or TM2C2
        How the legs' lists become one; it carries the legs' weights.
    k : int
        How many hits are returned.
    depth : int
        How deep each leg goes.
    prior : float
        What a memory of importance 0 keeps of its score; 1 switches the importance prior off.
    sort_by : {"relevance", "importance", "recency"}
        The order of the hits.
    exact_match : float
        The bonus of an exact match, as the weight of a further leg; 0 is off.
    rerank : bool
        Whether a cross-encoder reads the fused top again; another order than `relevance` is left as it is.
    rerank_depth : int
        How many of the fused top it reads.
    rerank_timeout : float
        Seconds that it may take; what it has read by then is used, and the rest keeps its order.
    rerank_model : str
        The cross-encoder: "bundled", or the name or path of a sentence-transformers one.
    lexical_ranker : {"bm25", "ts_rank"}
        How the lexical leg ranks.
    min_score : float, optional
        The least score of a hit, in the fuser's own unit; by default none.
    walk : Walk, optional
        The graph leg's walk; by default the measured one.
    stages : Stages
        What follows the legs where `rerank` is on; a `walk` in it needs a graph, and a weight for the graph leg.

    Examples
    --------
    >>> Settings().replaced({"graph": 2, "k": 5}).fuser
    MinMax(lexical=0.015, dense=0.035, graph=2)
    """

    fuser: AnyFuser = DEFAULT_FUSER
    k: int = 10
    depth: int = 50
    prior: float = 0.7
    sort_by: SortBy = "relevance"
    exact_match: float = 0.0
    rerank: bool = False
    rerank_depth: int = 30
    rerank_timeout: float = 2.0
    rerank_model: str = BUNDLED_RERANKER
    lexical_ranker: LexicalRanker = DEFAULT_RANKER
    min_score: float | None = None
    walk: Walk | None = None
    stages: Stages = DEFAULT_STAGES

    def __post_init__(self) -> None:
        for name, low, high in (("k", 1, MAX_DEPTH), ("depth", 1, MAX_DEPTH), ("rerank_depth", 1, MAX_DEPTH)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise HopgateError(f"{name} must be a whole number between {low} and {high}, not {value!r}")
        if self.sort_by not in get_args(SortBy):
            raise HopgateError(f"sort_by is one of {', '.join(get_args(SortBy))}, not {self.sort_by!r}")
        if not isinstance(self.rerank, bool):
            raise HopgateError(f"rerank must be true or false, not {self.rerank!r}")
        if self.min_score is not None:
            object.__setattr__(self, "min_score", finite("min_score", self.min_score, -math.inf))
        limit = self.rerank_timeout
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 < limit <= MAX_TIMEOUT_S:
            raise HopgateError(f"rerank_timeout must be more than 0 and at most {MAX_TIMEOUT_S} seconds, not {limit!r}")
        if not isinstance(self.rerank_model, str) or not self.rerank_model.strip():
            raise HopgateError(
                f"rerank_model must be {BUNDLED_RERANKER!r} or a model's name, not {self.rerank_model!r}"
            )
        check_ranker(self.lexical_ranker)
        Importance(self.prior), ExactMatch(self.exact_match)

    @property
    def pipeline(self) -> Stages:
        """What follows the legs of this query, with every depth: the value that a gate compares, and its cost.

        Examples
        --------
        >>> Settings().pipeline, Settings(rerank=True).pipeline
        (Stages('fuse'), Stages('fuse > rerank(30) > walk'))
        """
        # Only relevance can be judged better by reading: a date stays what it is.
        reads = self.rerank and self.sort_by == "relevance"
        return self.stages.at_depth(self.rerank_depth) if reads else Stages()

    def replaced(self, changes: Mapping[str, Any]) -> Settings:
        """Give these settings with some changed.

        A leg's name changes its weight; `fuser` and `stages` may be text, and `walk` its fields or JSON.
        """
        if unknown := sorted(set(changes) - set(NAMES)):
            raise HopgateError(f"there is no setting {unknown[0]!r}: there are {', '.join(NAMES)}")
        fuser = changes.get("fuser", self.fuser)
        if isinstance(fuser, str):
            fuser = parse(fuser)
        if not isinstance(fuser, AnyFuser):
            raise HopgateError(f"fuser must be a fuser as it prints, such as {RRF()!r}, not {fuser!r}")
        fuser = fuser.reweighed(**{name: changes[name] for name in STANDARD if name in changes})
        stages = changes.get("stages", self.stages)
        stages = Stages(stages) if isinstance(stages, str) else stages
        if not isinstance(stages, Stages):
            raise HopgateError(f"stages must be text such as {str(DEFAULT_STAGES)!r}, not {stages!r}")
        rest = {name: value for name, value in changes.items() if name not in (*STANDARD, "fuser", "stages")}
        if rest.get("walk") is not None:
            rest["walk"] = walk_of(rest["walk"])
        return replace(self, fuser=fuser, stages=stages, **rest)

    def only(self, legs: Sequence[str]) -> Settings:
        """Give these settings with every leg switched off that is not named; an unknown name is refused.

        Examples
        --------
        >>> Settings().only(["lexical"]).fuser
        MinMax(lexical=0.015, dense=0, graph=0)
        """
        check_several(legs, "legs")
        weights = self.fuser.weights
        if unknown := [name for name in legs if name not in weights]:
            raise HopgateError(f"there is no leg {unknown[0]!r}: there are {', '.join(weights)}")
        return replace(self, fuser=self.fuser.reweighed(**{name: 0.0 for name in weights if name not in legs}))


NAMES = (*STANDARD, *(field.name for field in fields(Settings)))
"""Every name that a setting can be given by."""


class RecallOptions(TypedDict, total=False):
    """Settings that one recall may change: those of `Settings`, and a weight for each standard leg."""

    fuser: AnyFuser | str
    lexical: float
    dense: float
    graph: float
    k: int
    depth: int
    prior: float
    sort_by: SortBy
    exact_match: float
    rerank: bool
    rerank_depth: int
    rerank_timeout: float
    rerank_model: str
    stages: Stages | str
    lexical_ranker: LexicalRanker
    min_score: float | None
    walk: Walk | Mapping[str, Any] | str | None


@dataclass(frozen=True, slots=True)
class Resolved:
    """Settings, and where each value comes from.

    Parameters
    ----------
    settings : Settings
    sources : mapping of setting name to str
        For each setting, the weights of the standard legs among them, who set it last.
    """

    settings: Settings
    sources: Mapping[str, str]


def load_settings(
    directory: Path | None = None,
    environ: Mapping[str, str] | None = None,
    arguments: Mapping[str, Any] | None = None,
    stored: Mapping[str, tuple[Any, str]] | None = None,
) -> Settings:
    """Resolve the settings: defaults, then the store, then the file, then the environment, then arguments.

    The file is what `HOPGATE_SETTINGS` names, or `settings.toml` in the data directory. A variable is the setting's
    name in capitals behind `HOPGATE_`, for instance `HOPGATE_GRAPH=2`.

    Examples
    --------
    >>> load_settings(environ={"HOPGATE_DENSE": "0", "HOPGATE_K": "20"}, arguments={"k": 5}).k
    5
    """
    settings = resolve_settings(directory, environ, stored).settings
    return settings.replaced({name: value for name, value in (arguments or {}).items() if value is not None})


def resolve_settings(
    directory: Path | None = None,
    environ: Mapping[str, str] | None = None,
    stored: Mapping[str, tuple[Any, str]] | None = None,
) -> Resolved:
    """Resolve the settings without arguments, and say where each comes from.

    Parameters
    ----------
    stored : mapping of setting name to (value, source)
        What the store holds.

    Examples
    --------
    >>> found = resolve_settings(environ={"HOPGATE_K": "20"}, stored={"fuser": ("RRF(k=60)", "gate 1f3c")})
    >>> found.sources["k"], found.sources["graph"], found.sources["depth"]
    ('HOPGATE_K', 'gate 1f3c', 'default')
    """
    environ = os.environ if environ is None else environ
    settings = Settings()
    sources = dict.fromkeys(NAMES, "default")
    rows = stored or {}
    settings = _changed(settings, {name: value for name, (value, _) in rows.items()}, "the store's settings")
    _note(sources, {name: source for name, (_, source) in rows.items()})
    named = environ.get(PREFIX + "SETTINGS")
    path = Path(named) if named else directory / FILE if directory else None
    if path is not None and (named or path.exists()):
        written = _from_file(path)
        settings = _changed(settings, written, f"the settings file {path}")
        _note(sources, dict.fromkeys(written, str(path)))
    texts = {name: environ[PREFIX + name.upper()] for name in NAMES if environ.get(PREFIX + name.upper())}
    values = {name: from_text(name, text, called=PREFIX + name.upper()) for name, text in texts.items()}
    settings = _changed(settings, values, "the environment")
    _note(sources, {name: PREFIX + name.upper() for name in texts})
    return Resolved(settings, sources)


def _note(sources: dict[str, str], changed: Mapping[str, str]) -> None:
    """Note who changed what; a fuser brings its weights, and a weight given beside it wins."""
    if "fuser" in changed:
        sources.update(dict.fromkeys(STANDARD, changed["fuser"]))
    sources.update(changed)


def _changed(settings: Settings, changes: Mapping[str, Any], source: str) -> Settings:
    """Apply changes; an error names the source that holds the wrong one."""
    try:
        return settings.replaced(changes)
    except HopgateError as error:
        raise HopgateError(f"{source}: {error}") from None


def _from_file(path: Path) -> dict[str, Any]:
    try:
        import tomllib

        return tomllib.loads(path.read_text())
    except OSError as error:
        raise HopgateError(f"the settings file {path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise HopgateError(f"the settings file {path} is not TOML: {error}") from None


def from_text(name: str, text: str, *, called: str | None = None) -> object:
    """Read a setting's value from what a person typed or the environment holds.

    Examples
    --------
    >>> from_text("k", "5"), from_text("rerank", "on"), from_text("prior", "0.9")
    (5, True, 0.9)
    """
    if name in _TEXTS or name not in NAMES:
        return text
    if name in _FLAGS:
        flag = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
        return flag.get(text.lower(), text)
    try:
        return int(text) if name in _WHOLE else float(text)
    except ValueError:
        raise HopgateError(f"{called or name} must be a number, not {text!r}") from None
