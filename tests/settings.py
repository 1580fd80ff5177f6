"""Settings of the test run: a data folder of its own, a fast hasher, and jobs that wait until a test runs them."""

import atexit
import os
import shutil
import sys
import tempfile

# Compiled modules are kept, in the processes that tests start as well: without them every process compiles everything
# anew, which is 3 s for the product and 20 s for the tests with their rewritten assertions (2 cores, 2026-11).
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

os.environ["DATA_DIR"] = tempfile.mkdtemp(prefix="echovessel-tests-")
os.mkdir(os.path.join(os.environ["DATA_DIR"], "static"))


def _remove_data(pid: int = os.getpid()) -> None:
    if os.getpid() == pid:  # a forked child leaves its parent's folder alone
        shutil.rmtree(os.environ["DATA_DIR"], ignore_errors=True)


atexit.register(_remove_data)
# Set, not left out: the operator's .env must not lead a test to the operator's data or model.
os.environ |= {
    "LLM_PROVIDER": "offline",
    "DATABASE_URL": "",
    "DATABASE_KEY": "",
    "CSRF_TRUSTED_ORIGINS": "",
    "API_ORIGINS": "",
}
os.environ |= {"EMBEDDING_BASE_URL": "", "EMBEDDING_API_KEY": "", "EMBEDDING_POOLING": "", "EMBEDDING_DIMENSIONS": "0"}
os.environ |= {"RERANK_BASE_URL": "", "RERANK_MODEL": "", "RERANK_API_KEY": ""}
os.environ |= {"LLM_BASE_URL": "", "LLM_API_KEY": "", "OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": ""}
os.environ |= {
    "ALLOWED_HOSTS": "localhost,127.0.0.1,[::1]",
    "HTTPS": "off",
    "PROXY_COUNT": "0",
    "ECHOVESSEL_KNOBS": "{}",
}

from echovessel.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}  # noqa: F405
# In the process's own folder: two test runs at the same time do not meet.
DATABASES["default"]["TEST"]["NAME"] = os.path.join(os.environ["DATA_DIR"], "test.sqlite3")  # noqa: F405
