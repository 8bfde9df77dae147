"""Settings as declared fields: what is made of them, and what each refuses."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click
import pytest
from click.testing import CliRunner
from pydantic import ValidationError

from hopgate import HopgateError
from hopgate.cli.parameters import click_options
from hopgate.options import (
    Environment,
    as_rows,
    check,
    environment_values,
    from_toml,
    options_of,
    setting,
    to_toml,
)
from hopgate.recall.fusers import parse
from hopgate.recall.settings import Settings
from hopgate.serve.bounds import request_model


@dataclass(frozen=True)
class Lamp:
    """All kinds of settings."""

    brightness: int = setting(3, "how bright it is", low=1, high=10)
    warmth: float | None = setting(None, "how warm its light is, in kelvin", above=0)
    colour: Literal["white", "red"] = setting("white", "the colour of its light")
    on: bool = setting(False, "whether it is on")
    rooms: tuple[str, ...] = setting((), "the room it is in", called="room")
    plan: Path | None = setting(None, "where it stands")

    def __post_init__(self) -> None:
        check(self)


GIVEN = {"brightness": 5, "warmth": 2700.0, "colour": "red", "on": True, "rooms": ("hall", "attic")}


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"brightness": 11}, "brightness must be a whole number between 1 and 10, not 11"),
        ({"brightness": True}, "brightness must be a whole number"),
        ({"warmth": 0}, "warmth must be a number of more than 0, not 0"),
        ({"warmth": float("nan")}, "warmth must be a number"),
        ({"colour": "blue"}, "colour is one of white, red, not 'blue'"),
        ({"on": 1}, "on must be true or false, not 1"),
        ({"rooms": "hall"}, "room is a list, not 'hall'"),
        ({"rooms": (3,)}, "room must be a text, not 3"),
    ],
)
def test_what_a_setting_may_not_be_is_refused(wrong, reason):
    with pytest.raises(HopgateError, match=reason):
        Lamp(**wrong)


def test_variables_files_commands_and_requests_say_what_the_fields_do(tmp_path):
    environ = {
        "HOPGATE_BRIGHTNESS": "5", "HOPGATE_WARMTH": "2700", "HOPGATE_COLOUR": "red", "HOPGATE_ON": "yes",
        "HOPGATE_ROOMS": "hall, attic", "HOPGATE_PLAN": "",
    }  # fmt: skip
    assert Lamp(**environment_values(options_of(Lamp), environ)) == Lamp(**GIVEN)
    for name, text, reason in (
        ("BRIGHTNESS", "11", "HOPGATE_BRIGHTNESS must be a whole number between 1 and 10, not 11"),
        ("BRIGHTNESS", "much", "HOPGATE_BRIGHTNESS must be a number, not 'much'"),
        ("ON", "perhaps", "HOPGATE_ON must be true or false"),
    ):
        with pytest.raises(HopgateError, match=reason):
            environment_values(options_of(Lamp), {f"HOPGATE_{name}": text})
    path = tmp_path / "lamp.toml"
    path.write_text(to_toml(GIVEN))
    assert Lamp(**from_toml(path)) == Lamp(**{**GIVEN, "rooms": ["hall", "attic"]})

    @click.command()
    @click_options(options_of(Lamp))
    def light(**given: Any) -> None:
        click.echo(repr(Lamp(**{name: value for name, value in given.items() if value not in (None, ())})))

    run = CliRunner().invoke
    assert run(light, []).output == f"{Lamp()!r}\n"
    words = ["--brightness", "5", "--warmth", "2700", "--colour", "red", "--on", "--room", "hall", "--room", "attic"]
    assert run(light, words).output == f"{Lamp(**GIVEN)!r}\n"
    assert "How bright it is. Default: 3." in run(light, ["--help"]).output
    assert str(run(light, ["--colour", "blue"]).exception) == "--colour is one of white, red, not 'blue'"
    model = request_model("LampRequest", options_of(Lamp))
    assert model(**GIVEN).model_dump(exclude_none=True) == GIVEN
    for wrong in ({"brightness": 11}, {"colour": "blue"}, {"height": 1}, {"warmth": 0}):
        with pytest.raises(ValidationError):
            model(**wrong)


def test_what_is_no_setting_is_refused_in_our_words_alone():
    with warnings.catch_warnings(record=True) as remarks:
        warnings.simplefilter("always")
        with pytest.raises(HopgateError):
            parse("RRF(k=1if 1else 2)")
    assert not remarks


@pytest.mark.parametrize("declared", [Settings, Environment])
def test_every_setting_says_what_it_is_for(declared):
    assert all(row["meaning"] for row in as_rows(options_of(declared)))
