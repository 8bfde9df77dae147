"""The gate's report: one self-contained HTML page, the same as Markdown, and the same as JSON."""

from hopgate.eval.report.html import to_html
from hopgate.eval.report.markdown import to_markdown
from hopgate.eval.report.page import Notes, Page, page
from hopgate.eval.report.write import write_report, write_trec

__all__ = ["Notes", "Page", "page", "to_html", "to_markdown", "write_report", "write_trec"]
