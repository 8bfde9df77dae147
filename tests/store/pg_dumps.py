"""What a database holds, as pg_dump writes it."""

import subprocess

from hopgate.store import server as embedded_server


def dumped(dsn: str, *options: str) -> list[str]:
    """The lines of a dump: of all, rows and indexes included, or of what the options say."""
    command = [embedded_server.binaries() / "pg_dump", "-d", dsn, *options]
    # A newer pg_dump writes a random word there.
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [line for line in lines if "restrict" not in line]
