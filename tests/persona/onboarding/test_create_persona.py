"""`manage.py create_persona`."""

import json
import uuid
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from persona.models import Persona

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("create_persona", *arguments, stdout=out)
    return out.getvalue()


def test_it_prints_the_id_alone(ana: User) -> None:
    printed = run("Mira", "--owner", "ana")
    assert printed == f"{Persona.objects.get().uuid}\n"
    assert uuid.UUID(printed.strip())
    assert Persona.objects.get().core_blocks.count() == 3


def test_a_card_says_who_she_is(ana: User, tmp_path: Path) -> None:
    card = tmp_path / "card.json"
    card.write_text(
        json.dumps({"user_name": "安娜", "timezone": "Asia/Shanghai", "blocks": {"persona": "她喜欢大海。"}})
    )
    run("米拉", "--owner", "ana", "--card", str(card))
    mira = Persona.objects.get()
    assert (mira.language, mira.user_name, mira.timezone) == ("zh", "安娜", "Asia/Shanghai")
    assert mira.core_blocks.get(label="persona").content == "她喜欢大海。"


@pytest.mark.parametrize(
    "arguments",
    [
        ["Mira", "--owner", "nobody"],
        ["", "--owner", "ana"],
        ["x" * 81, "--owner", "ana"],
        ["Mira", "--owner", "ana", "--card", "/does/not/exist"],
    ],
)
def test_invalid_arguments_of_create_persona_are_refused(ana: User, arguments: list[str]) -> None:
    with pytest.raises(CommandError):
        run(*arguments)
    assert not Persona.objects.exists()


@pytest.mark.parametrize(
    "card", ["{", "[]", '{"timezone": "Mars/Olympus"}', '{"blocks": {"persona": 5}}', '{"nmae": "x"}']
)
def test_a_broken_card_is_said(ana: User, tmp_path: Path, card: str) -> None:
    path = tmp_path / "card.json"
    path.write_text(card)
    with pytest.raises(CommandError):
        run("Mira", "--owner", "ana", "--card", str(path))
    assert not Persona.objects.exists()
