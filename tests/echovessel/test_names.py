"""Names that said nothing of what they hold do not come back: CONTRIBUTING says how things are named."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("echovessel", "persona", "chat", "memory", "proactive")
# Participles and riddles, as names of modules.
MODULES = set(
    re.findall(
        r"\w+",
        "again awaited beside brought buried choosing claims closing confirming considered considering deciding "
        "delivering discreet doing doors echoes elsewhere everything feasts finding finishing fresh given glosses "
        "grounding held holders holding importers importing incoming keeping kept looking many offering one_pass "
        "outdated outdating pace packing patience places prepared presence prints proving remembering sameness "
        "short_paths sifting sorting stones storing suggesting surroundings taking telling throw_away told_anew unkept "
        "wanting wondering wording ",
    )
)
# The same as names of classes: each stood for several things, or for none that a reader could guess.
CLASSES = set(
    re.findall(
        r"\w+",
        "Again Applying Arm Asked Beside Contest Desk Fate FromDisk Gathered Given Herself Keeping Listed Live Lost "
        "Mapped Offer Paced Purse Reach Refused Said Shelf Shown Sought Stored Sure Taken Teller TokenWanted Told "
        "Waiting ",
    )
)


def test_modules_and_packages_are_named_for_what_they_are() -> None:
    paths = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    names = {part: path for path in paths for part in path.relative_to(ROOT).with_suffix("").parts}
    assert {name: str(names[name]) for name in MODULES & names.keys()} == {}


def test_classes_are_named_for_what_they_are() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and node.name in CLASSES
    ]
    assert found == []
