"""`hopgate cache`: what is kept on disk beside stores: embeddings, models, compiled patterns, word lists."""

from __future__ import annotations

from pathlib import Path

import typer

from hopgate.cli.confirm import Yes, asked
from hopgate.cli.output import counted, print_json, say
from hopgate.cli.shared_options import AsJson

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.command()
def info(as_json: AsJson = False) -> None:
    """Say where the caches are and how much they hold: vectors under digests, models, rules; never a text.

    Example: hopgate cache info
    """
    from hopgate.embed import EmbeddingCache

    found = EmbeddingCache.default().info().to_dict()
    for one, (several, files) in _kept().items():
        found |= {several: len(files), f"{one.replace(' ', '_')}_bytes": sum(file.stat().st_size for file in files)}
    print_json(found) if as_json else say("\n".join(f"{name}: {value}" for name, value in found.items()))


@app.command()
def clear(yes: Yes = False, as_json: AsJson = False) -> None:
    """Empty the caches; what is in stores stays.

    Example: hopgate cache clear
    """
    from hopgate.embed import EmbeddingCache

    asked("empty the caches, which every store of this user shares", yes=yes)
    removed, kept = EmbeddingCache.default().clear(), _kept()
    for _, files in kept.values():
        for file in files:
            file.unlink(missing_ok=True)
    if as_json:
        print_json({"removed": removed, **{several: len(files) for several, files in kept.values()}})
    else:
        gone = [counted(len(files), one, several.replace("_", " ")) for one, (several, files) in kept.items()]
        say(f"removed {counted(removed, 'vector')}, {', '.join(gone[:-1])} and {gone[-1]}")


def _kept() -> dict[str, tuple[str, list[Path]]]:
    """The files beside the vectors, by what one of them is: what several are called, and which there are."""
    from hopgate.extract.rules.kept_patterns import kept_pattern_files, pattern_folder
    from hopgate.extract.rules.kept_words import kept_word_lists, word_folder

    return {
        "set of patterns": ("sets_of_patterns", kept_pattern_files(pattern_folder())),
        "word list": ("word_lists", kept_word_lists(word_folder())),
    }
