"""The few words that we ourselves say to a model; they lie with all other prompts."""

from functools import cache
from pathlib import Path
from string import Template

from django.conf import settings


def render_wording(name: str, **words: str) -> str:
    """The prompt `templates/prompts/<name>.txt` with every `$placeholder` filled; KeyError if one is not."""
    return _template(Path(settings.BASE_DIR) / "templates" / "prompts" / f"{name}.txt").substitute(words)


@cache
def _template(path: Path) -> Template:
    return Template(path.read_text(encoding="utf-8"))
