"""Create a token for a program. Prints only the token on stdout, and only this once. Revoke it on the account page."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core.management import BaseCommand, CommandError
from django.utils import timezone

from echovessel.api.tokens import secret
from echovessel.api.tokens.models import MAX_NAME

MAX_DAYS = 36_500


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--name", default="", help="its purpose, shown on the account page")
        parser.add_argument("--expires", type=int, metavar="DAYS", help="the token expires after this number of days")

    def handle(self, *args: Any, **options: Any) -> str:
        owner = User.objects.filter(username=options["username"]).first()
        if owner is None:
            raise CommandError(f"There is no user {options['username']!r}. Create one with manage.py createsuperuser.")
        if not owner.is_active:
            raise CommandError("This account is deactivated: its tokens do not work.")
        if len(options["name"]) > MAX_NAME:
            raise CommandError(f"A name has at most {MAX_NAME} characters.")
        now, days = timezone.now(), options["expires"]
        if days is not None and not 1 <= days <= MAX_DAYS:
            raise CommandError(f"--expires takes a number of days from 1 to {MAX_DAYS}.")
        _token, secret_text = secret.create(owner, options["name"], now, now + timedelta(days=days) if days else None)
        return secret_text
