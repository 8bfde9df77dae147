"""A report on disk: `report.html`, `report.md` and `report.json`; and runs for other tools, in TREC format."""

from __future__ import annotations

import json
import re
from pathlib import Path

from hopgate.eval.data.runs import write_qrels, write_run
from hopgate.eval.gate.evidence import Evidence
from hopgate.eval.gate.judge import Judgement
from hopgate.eval.report.html import to_html
from hopgate.eval.report.markdown import to_markdown
from hopgate.eval.report.page import Notes, page

REPORT, RECOMPUTED = "report", "recomputed"


def write_report(folder: str | Path, judgement: Judgement, notes: Notes | None = None, *, keep: bool = False) -> Path:
    """Write the three forms, and give the path of the page to open.

    Parameters
    ----------
    keep : bool
        Leave a report that is there as it is, and write the new one beside it as `recomputed.html` and so on: a gate
        that is read from disk has no texts and no paths to show.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    shown = page(judgement, notes)
    text = json.dumps(judgement.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)
    name = RECOMPUTED if keep and (folder / f"{REPORT}.html").exists() else REPORT
    (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    (folder / f"{name}.md").write_text(to_markdown(shown), encoding="utf-8")
    path = folder / f"{name}.html"
    path.write_text(to_html(shown), encoding="utf-8")
    return path


def write_trec(folder: str | Path, evidence: Evidence) -> None:
    """Write every arm's run as `<arm>.run` and the judgements as `qrels.txt`, for trec_eval, ranx and the like."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_qrels(folder / "qrels.txt", evidence.qrels)
    for name, arm in evidence.arms.items():
        # An arm's name as a file name and as a tag, which may hold no white space.
        tag = re.sub(r"[^\w+=.-]+", "-", name).strip("-")
        write_run(folder / f"{tag}.run", arm.run, tag)
