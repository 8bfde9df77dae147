"""The store's rules of sensitivity, read anew every moment: requests ask for them all the time."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase
    from hopgate.memory import Memory
    from hopgate.sensitivity import SensitivityRules

# A rule that is added holds after so many seconds at the latest.
KEPT_S = 1.0


class RuleReader:
    """Tells whether a memory is sensitive, by its mark or by a rule that nobody has applied to it yet.

    What another program writes into the table is marked by the next embedding; until then the rule alone speaks.
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb
        self._lock = threading.Lock()
        self._rules: SensitivityRules | None = None
        self._read_at = 0.0

    def is_sensitive(self, memory: Memory) -> bool:
        """Tell whether a memory is sensitive."""
        return memory.is_sensitive or self._read().meets(memory)

    def _read(self) -> SensitivityRules:
        with self._lock:
            if self._rules is None or time.monotonic() - self._read_at > KEPT_S:
                self._rules, self._read_at = self._kb.sensitivity(), time.monotonic()
            return self._rules
