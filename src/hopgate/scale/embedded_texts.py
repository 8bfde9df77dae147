"""What a worker made of a batch: vectors, and the memories that its embedder refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class EmbeddedTexts:
    """Vectors by external id, the memory's own first and its passages' after it.

    Attributes
    ----------
    refused : dict
        Why a memory has none, by external id.
    withdrawn : bool
        Whether one of them turned sensitive on the way: nothing was made of the batch then.
    seconds : float
        How long the worker took.

    Examples
    --------
    >>> joined = EmbeddedTexts(refused={"a": "no"}, seconds=1.0) + EmbeddedTexts(seconds=2.0)
    >>> joined.refused, joined.seconds
    ({'a': 'no'}, 3.0)
    """

    vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    withdrawn: bool = False
    seconds: float = 0.0

    def __add__(self, other: EmbeddedTexts) -> EmbeddedTexts:
        """Both together."""
        return EmbeddedTexts(
            {**self.vectors, **other.vectors},
            {**self.refused, **other.refused},
            self.withdrawn or other.withdrawn,
            self.seconds + other.seconds,
        )
