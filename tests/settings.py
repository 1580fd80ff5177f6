"""Settings of the test run: a data folder of its own, a fast hasher, and jobs that wait until a test runs them."""

import os
import tempfile

os.environ["DATA_DIR"] = tempfile.mkdtemp(prefix="echovessel-tests-")
os.mkdir(os.path.join(os.environ["DATA_DIR"], "static"))
os.environ.setdefault("LLM_PROVIDER", "offline")

from echovessel.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}  # noqa: F405
DATABASES["default"]["TEST"]["NAME"] = os.environ.get("PYTEST_DB", str(BASE_DIR / "build" / "test.sqlite3"))  # noqa: F405
