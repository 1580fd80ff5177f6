"""The smaller set-up: processes that can import nothing but the packages of requirements-small.txt."""

import re
import sys
from importlib import metadata
from pathlib import Path

from tests.installation import ROOT

# Python imports this module first of all, so that nothing gets round it.
SITE = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ImportError(f"{{name}} is not in the smaller set-up")

sys.meta_path.insert(0, Blocked())
"""


def block_other_packages(folder: Path) -> dict[str, str]:
    """The environment of a process without any other package; `folder` is made for what it reads."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(SITE.format(names=blocked_modules()))
    return {"PYTHONPATH": str(folder)}


def blocked_modules() -> set[str]:
    """The modules of all installed packages that are not listed."""
    known = packages_in("requirements-small.txt")
    packages = metadata.packages_distributions().items()
    return {
        module
        for module, owners in packages
        if not known & {normalized(owner) for owner in owners} and module not in sys.stdlib_module_names
    }


def packages_in(name: str) -> set[str]:
    """The packages that a list of requirements names."""
    lines = (ROOT / name).read_text().splitlines()
    return {normalized(re.split(r"[=\[;]", line)[0]) for line in lines if line and not line.startswith(("#", "-"))}


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()
