"""`hopgate cache`: what is kept on disk beside stores: embeddings, matrices, optimised models."""

from __future__ import annotations

import typer

from hopgate.cli.confirm import Yes, asked
from hopgate.cli.output import counted, print_json, say
from hopgate.cli.shared_options import AsJson

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.command()
def info(as_json: AsJson = False) -> None:
    """Say where the caches are and how much they hold: vectors under digests, matrices, models; never a text.

    Example: hopgate cache info
    """
    from hopgate.embed import EmbeddingCache
    from hopgate.embed.kept_model import kept_models
    from hopgate.embed.onnx import model_directory
    from hopgate.graph.walk.matrix_cache import kept_files, matrix_directory

    found = EmbeddingCache.default().info().to_dict()
    matrices = kept_files(matrix_directory())
    models = kept_models(model_directory())
    found |= {"matrices": len(matrices), "matrix_bytes": sum(file.stat().st_size for file in matrices)}
    found |= {"models": len(models), "model_bytes": sum(file.stat().st_size for file in models)}
    print_json(found) if as_json else say("\n".join(f"{name}: {value}" for name, value in found.items()))


@app.command()
def clear(yes: Yes = False, as_json: AsJson = False) -> None:
    """Empty the caches; what is in stores stays.

    Example: hopgate cache clear
    """
    from hopgate.embed import EmbeddingCache
    from hopgate.embed.kept_model import kept_models
    from hopgate.embed.onnx import model_directory
    from hopgate.graph.walk.matrix_cache import kept_files, matrix_directory

    asked("empty the caches, which every store of this user shares", yes=yes)
    removed = EmbeddingCache.default().clear()
    matrices, models = kept_files(matrix_directory()), kept_models(model_directory())
    for file in (*matrices, *models):
        file.unlink(missing_ok=True)
    if as_json:
        print_json({"removed": removed, "matrices": len(matrices), "models": len(models)})
    else:
        say(
            f"removed {counted(removed, 'vector')}, {counted(len(matrices), 'matrix', 'matrices')} and "
            f"{counted(len(models), 'model')}"
        )
