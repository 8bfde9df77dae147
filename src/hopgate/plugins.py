"""What other packages add to hopgate, each found by its entry point: embedders, sources, extractors and re-rankers.

A package names them in its `pyproject.toml`, as `docs/plugin-example` does::

    [project.entry-points."hopgate.embedders"]
    letters = "hopgate_letters:from_spec"

What a name stands for: of `embedders` a function from the rest of a spec (`letters:REST`) to an `Embedder`; of
`sources` a `SourceFormat`; of `extractors` a function from the value of `--model`, or none, to an `Extractor`; of
`rerankers` a function from the rest of the model's name (`letters:REST`) to a `CrossEncoder`.
"""

from dataclasses import asdict, dataclass
from importlib.metadata import entry_points
from typing import Any, Literal

from hopgate.errors import HopgateError

Group = Literal["embedders", "sources", "extractors", "rerankers"]
GROUPS: tuple[Group, ...] = ("embedders", "sources", "extractors", "rerankers")


@dataclass(frozen=True, slots=True)
class Plugin:
    """Something that an installed package adds."""

    group: Group
    name: str
    package: str
    version: str

    def __str__(self) -> str:
        return f"{self.group}: {self.name} ({self.package} {self.version})"

    def to_dict(self) -> dict[str, str]:
        """The plugin as plain values."""
        return asdict(self)


def plugins(*groups: Group) -> list[Plugin]:
    """List what is installed, by default of every group; nothing of it is loaded.

    Examples
    --------
    >>> [plugin.name for plugin in plugins("embedders") if plugin.name == "no such thing"]
    []
    """
    return [
        Plugin(group, point.name, point.dist.name if point.dist else "?", point.dist.version if point.dist else "?")
        for group in groups or GROUPS
        for point in sorted(entry_points(group=f"hopgate.{group}"), key=lambda point: point.name)
    ]


def plugin(group: Group, name: str) -> Any:
    """Load what a name stands for; none where nothing that is installed has it."""
    for point in entry_points(group=f"hopgate.{group}", name=name):
        try:
            return point.load()
        except Exception as error:  # another package's code raises whatever it raises
            package = point.dist.name if point.dist else point.value
            raise HopgateError(
                f"the plugin {name!r} cannot be loaded ({type(error).__name__}): upgrade or remove {package}"
            ) from error
    return None
