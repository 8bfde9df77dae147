"""The command line itself: completion in shells, and what other packages add."""

import click

from hopgate.cli.output import Shown, say
from hopgate.cli.parameters import printed
from hopgate.plugins import plugins as installed


@click.command(
    "completion", epilog="Example: hopgate completion bash > ~/.local/share/bash-completion/completions/hopgate"
)
@click.argument("shell", help="The shell.", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what makes a shell complete hopgate's commands and options."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    say(kind(context.find_root().command, {}, "hopgate", "_HOPGATE_COMPLETE").source())


@click.command("plugins", epilog="Example: hopgate plugins --json")
@printed
def plugins() -> Shown:
    """List what installed packages add: embedders, sources, extractors and re-rankers."""
    found = installed()
    return found, found or "no plugin is installed"
