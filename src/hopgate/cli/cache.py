"""`hopgate cache`: the embeddings kept on disk."""

from __future__ import annotations

import typer

from hopgate.cli.common import AsJson, print_json, say
from hopgate.cli.confirm import Yes, asked

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.command()
def info(as_json: AsJson = False) -> None:
    """Say where the embedding cache is and how much it holds; it keeps vectors under digests, never a text.

    Example: hopgate cache info
    """
    from hopgate.embed import EmbeddingCache

    found = EmbeddingCache.default().info().to_dict()
    print_json(found) if as_json else say("\n".join(f"{name}: {value}" for name, value in found.items()))


@app.command()
def clear(yes: Yes = False, as_json: AsJson = False) -> None:
    """Empty the embedding cache; what is in stores stays.

    Example: hopgate cache clear
    """
    from hopgate.embed import EmbeddingCache

    asked("empty the embedding cache, which every store of this user shares", yes=yes)
    removed = EmbeddingCache.default().clear()
    print_json({"removed": removed}) if as_json else say(f"removed {removed:,} vectors")
