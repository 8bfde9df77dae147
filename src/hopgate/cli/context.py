"""`hopgate context` and `ask`: what memories say, as text for an assistant or as a model's answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hopgate.answers.context import DEFAULT_TOKENS
from hopgate.cli import parameters
from hopgate.cli.graph import extractor_options, make_extractor
from hopgate.cli.output import Shown
from hopgate.cli.parameters import read_text, with_store

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase

tokens = click.option(
    "--tokens", type=click.IntRange(1), default=DEFAULT_TOKENS, help="How long it may be.", show_default=True
)


@click.command("context", epilog='Example: hopgate context "where does the backup job run" --tokens 500')
@click.argument("query", help="What to write about, in plain words; - for standard input.", callback=read_text)
@tokens
@parameters.filters
@with_store
def context(kb: KnowledgeBase, query: str, tokens: int, **given: Any) -> Shown:
    """Write what memories say, with numbered citations, for an assistant's prompt; nothing sensitive is in it."""
    made = kb.context(query, tokens=tokens, **parameters.values(given))
    return made, made.text or "nothing found"


@click.command("ask", epilog='Example: hopgate ask "Who maintains the backup?" --extractor llama --model MODEL.gguf')
@click.argument("query", help="A question; - for standard input.", callback=read_text)
@tokens
@extractor_options
@parameters.filters
@with_store
def ask(kb: KnowledgeBase, query: str, tokens: int, **given: Any) -> Shown:
    """Have a language model answer a question from memories alone, each sentence with its citations."""
    model = make_extractor(kb, given)
    answer = kb.ask(query, model, tokens=tokens, **parameters.values(given))
    cited = {name for sentence in answer.sentences for name in sentence.memories}
    citations = [citation for citation in answer.context.citations if citation.external_id in cited]
    sources = [f"[{citation.number}] {citation.external_id}" for citation in citations]
    return answer, [str(answer), *sources, *([answer.problem] if answer.problem else [])]
