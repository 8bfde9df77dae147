"""What an assistant may see and do, decided when the server starts."""

from __future__ import annotations

from dataclasses import dataclass

from hopgate.errors import HopgateError


@dataclass(frozen=True)
class McpSettings:
    """What an assistant may see and do; nothing that it sends changes this.

    Parameters
    ----------
    scopes : tuple of str, optional
        The scopes that it is bound to: nothing of another is seen, and what it remembers goes into the first.
    read_only : bool
        Whether there are no tools that change the store.
    allow_sensitive : bool
        Whether sensitive memories are returned; by default they are as if they were not there.
    max_hits : int
        The most memories or relations of one answer.
    max_shown : int
        How many characters of a memory an answer holds; `hopgate://memory/…` has all of it.
    max_text : int
        The longest text to remember, in characters.
    max_message : int
        The largest message, in bytes.

    Examples
    --------
    >>> McpSettings(scopes=("home",), read_only=True).scopes
    ('home',)
    """

    scopes: tuple[str, ...] | None = None
    read_only: bool = False
    allow_sensitive: bool = False
    max_hits: int = 50
    max_shown: int = 2_000
    max_text: int = 50_000
    max_message: int = 1 << 20

    def __post_init__(self) -> None:
        if self.scopes is not None and not self.scopes:
            raise HopgateError("name at least one scope to bind an assistant to, or none to bind it to none")
        for name in ("max_hits", "max_shown", "max_text", "max_message"):
            if getattr(self, name) < 1:
                raise HopgateError(f"{name} must be at least 1, not {getattr(self, name)}")
