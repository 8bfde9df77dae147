"""`hopgate questions`: one's own questions, written and judged by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hopgate.cli.output import counted, opened, print_json, say
from hopgate.cli.shared_options import AsJson, Data, Dsn
from hopgate.errors import HopgateError


def command(
    file: Annotated[Path, typer.Argument(help="The file of questions; it is made where it is not there.")],
    out: Annotated[
        Path | None, typer.Option(help="Write the judged questions here, for hopgate gate DIR --store.", metavar="DIR")
    ] = None,
    dev: Annotated[float, typer.Option(help="Share of the questions that go to the split dev.")] = 0.5,
    depth: Annotated[int, typer.Option(help="Candidates of each leg.", min=1, max=50)] = 8,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Write and judge questions about your own memories: a file to fill in, with candidates to tick.

    Run it once to get the file, again when questions are in it to get candidates from every leg, and with --out when
    the boxes are ticked.

    Example: hopgate questions questions.md
    """
    from hopgate.eval.data.own_questions import store_texts, with_candidates, write_judged
    from hopgate.eval.data.questions_file import questions_text, read_questions

    if not file.exists():
        file.write_text(questions_text([], {}), encoding="utf-8")
        counts = {"questions": 0, "judged": 0}
        told = f"{file}: write your questions into it, and run this again for candidates to tick"
    else:
        questions = read_questions(file)
        if not questions:
            raise HopgateError(f"{file} holds no question yet: write one after each ##")
        judged = sum(bool(question.gold) for question in questions)
        counts = {"questions": len(questions), "judged": judged}
        with opened(data, dsn) as kb:
            if out is not None:
                written, left = write_judged(out, questions, list(kb.id_map().values()), dev=dev)
                # Without questions to tune on a gate is told to use what the store has.
                tune = "" if (out / "qrels" / "dev.tsv").exists() else " --tune none"
                gate = f"hopgate gate {out} --store{tune}"
                told = f"{out}: {written} judged questions, {left} without a tick; now {gate}"
            else:
                file.write_text(questions_text(with_candidates(kb, questions, depth=depth), store_texts(kb)), "utf-8")
                asked = counted(len(questions), "question")
                told = f"{file}: {asked}, {judged} judged; tick what answers, then add --out DIR"
    if as_json:
        print_json(counts)
        return
    say(told)
