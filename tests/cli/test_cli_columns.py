"""Texts in columns: nothing is lost, nothing is wider than there is room, and what a terminal obeys is shown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hopgate.cli.columns import TextColumn, fitted, lines, shown_width, wrapped

TEXT = st.text(st.sampled_from("ab é茶e\u0301\n -"), max_size=40)


@given(st.lists(st.lists(TEXT, min_size=3, max_size=3), max_size=4), st.integers(20, 60))
def test_no_line_is_wider_than_there_is_room(rows: list[list[str]], width: int) -> None:
    columns = [TextColumn("", right=True), TextColumn("memory"), TextColumn("content")]
    assert all(shown_width(line) <= width for line in lines(columns, rows, width))


@given(TEXT, st.integers(2, 20))
def test_a_text_that_is_broken_is_whole(text: str, width: int) -> None:
    parts = wrapped(text, width)
    assert all(shown_width(part) <= width for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


@given(st.lists(st.integers(0, 200), min_size=1, max_size=5), st.integers(0, 200))
def test_columns_share_what_room_there_is(wanted: list[int], room: int) -> None:
    widths = fitted(wanted, room)
    assert all(width <= most for width, most in zip(widths, wanted, strict=True))
    assert sum(widths) == min(sum(wanted), max(room, len(wanted)))
    # Only from the widest is anything taken.
    assert all(max(widths) - width <= 1 for width, most in zip(widths, wanted, strict=True) if width < most)


def test_what_a_terminal_would_obey_is_shown() -> None:
    assert "\\x1b[31m" in "".join(lines([TextColumn("memory")], [["\x1b[31m red"]], 40))
