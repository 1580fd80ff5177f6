"""The headings of a prompt, in the persona's language."""

import tomllib
from functools import cache

from django.conf import settings


def with_heading(language: str, key: str, body: str, **names: str) -> str:
    """`body` under its heading: "# About them\\n…"."""
    return f"# {_headings(language)[key].format(**names)}\n{body.strip()}"


@cache
def _headings(language: str) -> dict[str, str]:
    path = settings.BASE_DIR / "templates" / "prompts" / f"headings.{language}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))
