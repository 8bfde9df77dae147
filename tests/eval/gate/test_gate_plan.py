"""A plan: declared in a file, checked, obeyed, and named by its hash."""

from __future__ import annotations

import pytest

from hopgate.errors import HopgateError
from hopgate.eval.gate.ledger import Ledger
from hopgate.eval.gate.plan import GateOptions, Policy, declared, make_plan, plan_hash, plan_text


def test_a_plan_is_written_and_read_back_as_it_was(tmp_path):
    path = tmp_path / "plan.toml"
    options, policy, text = declared(path, {"alpha": 0.01, "slices": ("hops=2",), "extractor": 'a "b" \\c'})
    assert path.read_text() == text == plan_text(options, policy)
    assert (policy.alpha, options.slices, options.k, options.extractor) == (0.01, ("hops=2",), 10, 'a "b" \\c')
    assert declared(path, {}) == (options, policy, text)
    assert declared(path, {"alpha": 0.01, "slices": ("hops=2",)})[2] == text
    assert plan_hash(text) != plan_hash(text + " ")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"alfa": 0.1}, "a plan has no 'alfa'"),
        ({"alpha": "0.1"}, "alpha must be a number"),
        ({"alpha": 1.5}, "alpha must be a number of more than 0 and less than 1"),
        ({"margin": 0.0}, "margin must be a number of more than 0"),
        ({"arms": "some"}, "arms is one of"),
        ({"k": 51}, "k must be between 1 and 50"),
    ],
)
def test_what_a_plan_cannot_say_is_refused(settings, reason):
    with pytest.raises(HopgateError, match=reason):
        make_plan(settings)


def test_options_make_the_primary_measure_and_the_seeds():
    assert str(GateOptions(k=5).primary) == "recall@5"
    assert str(GateOptions(measure="ndcg@10").primary) == "ndcg@10"
    assert list(GateOptions(seed=3, shuffles=2).shuffle_seeds) == [3, 4]
    assert Policy().after(1) == Policy(rank_alpha=0.05)


def test_a_ledger_that_was_edited_is_refused(tmp_path):
    ledger = Ledger.beside(tmp_path)
    ledger.record(["q"], verdict="OPEN")
    assert ledger.looks(["q"]) == 1
    ledger.path.write_text("no look\n")
    with pytest.raises(HopgateError, match="line 1: this is no look"):
        ledger.looks(["q"])
