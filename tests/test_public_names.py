"""What `import hopgate` offers, and what it costs."""

import subprocess
import sys

import pytest

import hopgate

PUBLIC = {
    "open", "Memory", "KnowledgeBase", "Hit", "Settings", "RRF", "TM2C2", "run_gate", "read_dataset", "HopgateError",
}  # fmt: skip


def test_the_public_names_and_no_more() -> None:
    assert set(hopgate.__all__) == PUBLIC
    assert set(dir(hopgate)) >= PUBLIC | {"__version__"}
    for name in PUBLIC:
        assert getattr(hopgate, name).__name__ == name
        assert getattr(hopgate, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'recall_all'"):
        _ = hopgate.recall_all


def test_importing_the_package_loads_none_of_its_rooms() -> None:
    code = (
        "import sys, hopgate; print(*sorted(name for name in sys.modules if name.partition('.')[0] == 'hopgate'))\n"
        "hopgate.RRF; assert not {'numpy', 'psycopg', 'scipy'} & set(sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert not {name.split(".")[1] for name in loaded if "." in name} - {"errors", "memory", "times"}
