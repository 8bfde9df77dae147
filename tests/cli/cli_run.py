"""Run a command in this process, as the user would, and give back what they would see."""

import json
import warnings
from dataclasses import dataclass
from typing import Any

import pytest

from hopgate.cli import main


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def refused(self) -> str:
        """The one line of a refusal; anything else fails the test."""
        assert self.status == 2, self
        assert self.out == ""
        lines = self.err.strip().splitlines()
        assert len(lines) == 1 and lines[0].startswith("hopgate: "), self.err
        assert "Traceback" not in self.err
        return lines[0]


class Runner:
    def __init__(self, capsys: pytest.CaptureFixture[str], *always: str) -> None:
        self._capsys = capsys
        self._always = always

    def __call__(self, *arguments: str, status: int | None = 0) -> Ran:
        self._capsys.readouterr()
        with warnings.catch_warnings():
            showing = warnings.showwarning
            try:
                main([*arguments, *self._always])
                code = 0
            except SystemExit as end:
                code = int(end.code or 0)
            finally:
                warnings.showwarning = showing
        out, err = self._capsys.readouterr()
        ran = Ran(code, out, err)
        assert status is None or code == status, ran
        return ran
