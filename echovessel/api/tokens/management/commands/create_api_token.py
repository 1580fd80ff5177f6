"""Make a token for a program; prints the token alone on stdout, this once. Revoke it on the account page."""

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
        parser.add_argument("--name", default="", help="what it is for, as the account page shows it")
        parser.add_argument("--expires", type=int, metavar="DAYS", help="it opens nothing any more after so many days")

    def handle(self, *args: Any, **options: Any) -> str:
        owner = User.objects.filter(username=options["username"]).first()
        if owner is None:
            raise CommandError(f"There is no user {options['username']!r}. Make one with manage.py createsuperuser.")
        if not owner.is_active:
            raise CommandError("This account is deactivated: a token of it would open nothing.")
        if len(options["name"]) > MAX_NAME:
            raise CommandError(f"A name has at most {MAX_NAME} characters.")
        now, days = timezone.now(), options["expires"]
        if days is not None and not 1 <= days <= MAX_DAYS:
            raise CommandError(f"--expires takes a number of days from 1 to {MAX_DAYS}.")
        _token, secret_text = secret.create(owner, options["name"], now, now + timedelta(days=days) if days else None)
        return secret_text
