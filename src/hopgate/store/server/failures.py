"""Why the embedded server did not start, in one sentence."""

from __future__ import annotations

from pathlib import Path

from hopgate.errors import HopgateError

SERVER_LOG = "server.log"


def failure(directory: Path, output: str) -> HopgateError:
    """Turn the output of the server's programs into one sentence with what to do."""
    if "No space left on device" in output:
        return HopgateError(
            f"the disk that holds {directory} is full: free some space, or choose another place with --data DIR"
        )
    if "is not compatible with this version" in output or "incompatible with server" in output:
        return HopgateError(
            f"{directory} was made by another version of PostgreSQL: choose another place with --data DIR, "
            "or install the wheel that made it"
        )
    lines = [line for line in output.strip().splitlines() if any(w in line for w in ("FATAL", "PANIC", "rror"))]
    reason = (lines or output.strip().splitlines() or ["it said nothing"])[-1].strip()
    return HopgateError(
        f"the embedded PostgreSQL in {directory} did not start ({reason}): "
        f"see {directory / 'pg' / SERVER_LOG}, or choose another place with --data DIR"
    )
