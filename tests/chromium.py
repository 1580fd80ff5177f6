"""Have a Chromium for the browser tests: the one that is here, else Debian's package, else say why not.

python -m tests.chromium        # before the tests; never fails them
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
PACKAGES = ("chromium", "fonts-noto-cjk")


def path() -> str | None:
    """The browser's path, or None."""
    return os.environ.get("CHROMIUM") or next((found for name in NAMES if (found := shutil.which(name))), None)


def install() -> None:
    """Install Debian's packages, where that can be done without asking."""
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return
    quiet = {"env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, "stdout": subprocess.DEVNULL}
    subprocess.run(["apt-get", "-qq", "update"], check=False, **quiet)
    subprocess.run(["apt-get", "-qq", "install", "-y", "--no-install-recommends", *PACKAGES], check=False, **quiet)


if __name__ == "__main__":
    if path() is None:
        install()
    found = path()
    sys.stderr.write(
        f"browser tests use {found}\n" if found else "no Chromium can be had here: browser tests are skipped\n"
    )
