"""What `backfill`, `build` and `gate` share: which engine, and how large."""

from __future__ import annotations

from typing import Annotated

import typer

from hopgate.cli.shared_options import MOST

EngineName = Annotated[
    str, typer.Option("--engine", help="local: this process. processes: several of them. ray: a Ray cluster's workers.")
]
Address = Annotated[
    str | None,
    typer.Option(help="The Ray cluster, such as auto or ray://head:10001.", show_default="one of its own"),
]
Workers = Annotated[int | None, typer.Option(help="How many workers.", min=1, max=MOST, show_default="one a core")]
