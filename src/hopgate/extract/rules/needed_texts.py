"""What a text must hold for a pattern to match anywhere in it: looking for that is far quicker than trying the pattern.

Read off the pattern's own syntax tree, so that it cannot disagree with the pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# The standard library's parser of patterns; its module is private, its tree has been the same since Python 1.6.
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

Needs = tuple[frozenset[str], ...]


def needed_texts(pattern: re.Pattern[str]) -> Needs:
    r"""Sets of texts, of each of which at least one is in every text that the pattern matches somewhere.

    Examples
    --------
    >>> [sorted(one) for one in needed_texts(re.compile(r"(?P<x>\w+) (?:now )?(?:runs|is) on (?!the)"))]
    [[' on '], ['is', 'runs']]
    >>> needed_texts(re.compile("a?|b"))
    ()
    """
    return needed_by_tree(parser.parse(pattern.pattern, pattern.flags), pattern.flags)


def needed_by_tree(tree: Iterable[tuple[Any, Any]], flags: int) -> Needs:
    """The same of a pattern that is parsed already."""
    if flags & (re.IGNORECASE | re.VERBOSE):
        return ()
    # What there is one way to meet first: most texts fail it, and then the many ways of another are not looked for.
    return tuple(sorted(_of_sequence(tree), key=len))


def may_match(needs: Needs, text: str) -> bool:
    """Whether a text holds what a pattern needs.

    Examples
    --------
    >>> may_match((frozenset(("is", "runs")), frozenset((" on ",))), "immich runs on cedar")
    True
    """
    # Loops: with `all` and `any` this takes three times as long, and it is asked thirty times a sentence.
    for ways in needs:
        for one in ways:
            if one in text:
                break
        else:
            return False
    return True


def _of_sequence(nodes: Iterable[tuple[Any, Any]]) -> list[frozenset[str]]:
    found: list[frozenset[str]] = []
    run = ""
    for kind, value in nodes:
        name = str(kind)
        if name == "LITERAL":
            run += chr(value)
            continue
        if run.strip():
            found.append(frozenset((run,)))
        run = ""
        if name == "SUBPATTERN":
            found += _of_sequence(value[3])
        elif name == "BRANCH":
            found += _of_branches(value[1])
        elif name in ("MAX_REPEAT", "MIN_REPEAT") and value[0] > 0:
            found += _of_sequence(value[2])
    if run.strip():
        found.append(frozenset((run,)))
    return found


def _of_branches(branches: Sequence[Iterable[tuple[Any, Any]]]) -> list[frozenset[str]]:
    """Of each branch the first thing that it needs; nothing where one needs nothing."""
    each = [_of_sequence(branch) for branch in branches]
    return [frozenset().union(*(needs[0] for needs in each))] if all(each) else []
