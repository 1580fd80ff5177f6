"""Create a persona, and print its id on stdout."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.core.management import BaseCommand, CommandError
from pydantic import BaseModel, ConfigDict

from persona.onboarding.creation import create_persona, language_of


class Card(BaseModel):
    """A JSON file that describes a persona: the archive's persona record, without its id."""

    model_config = ConfigDict(extra="forbid")

    user_name: str = ""
    timezone: str = "UTC"
    language: str = ""
    blocks: dict[str, str] = {}
    facts: dict[str, Any] = {}


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="the persona's name")
        parser.add_argument("--owner", required=True, metavar="USERNAME", help="the account that gets the persona")
        parser.add_argument(
            "--card",
            type=Path,
            metavar="FILE",
            help="a JSON file with any of user_name, timezone, language, blocks, facts",
        )

    def handle(self, *args: Any, **options: Any) -> str:
        owner = get_user_model().objects.filter(username=options["owner"]).first()
        if owner is None:
            raise CommandError(f"There is no user {options['owner']!r}. Make one with manage.py createsuperuser.")
        card, path = Card(), options["card"]
        if path:
            try:
                card = Card.model_validate(json.loads(path.read_text(encoding="utf-8")))
            except (OSError, ValueError) as error:
                raise CommandError(f"{path} cannot be read as a card: {error}") from error
        try:
            persona = create_persona(
                owner,
                options["name"],
                user_name=card.user_name,
                timezone=card.timezone,
                language=card.language or language_of(" ".join([options["name"], *card.blocks.values()])),
                blocks=card.blocks,
                facts=card.facts,
            )
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from error
        return str(persona.uuid)
