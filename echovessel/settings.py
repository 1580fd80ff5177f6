"""Settings: secrets and paths come from the environment, and are read only here. Numbers are knobs (`<app>/knobs.py`).

Importing this module does not touch the disk.
"""

import json
import sys
from pathlib import Path
from typing import Any

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()
if (BASE_DIR / ".env").exists():
    env.read_env(BASE_DIR / ".env")

# Relative paths start here, in whatever folder the command was typed.
DATA_DIR = (BASE_DIR / env.str("DATA_DIR", default="data")).resolve()
# If they are not set, `echovessel.process.data_dir` creates them in the data folder when Django starts.
SECRET_KEY = env.str("SECRET_KEY", default="")
TOMBSTONE_KEY = env.str("TOMBSTONE_KEY", default="")
DEBUG = env.bool("DEBUG", default=False)

# --- hosts and origins ------------------------------------------------------------------------------------------
LOOPBACK = ["localhost", "127.0.0.1", "[::1]"]
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=LOOPBACK)
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
# Origins of other sites whose pages may call /v1/ from a browser, with a token: ["https://chat.example.org"].
API_ORIGINS = env.list("API_ORIGINS", default=[])
# Beyond loopback we expect TLS in front; HTTPS=off is for a home network without it, which a deploy check reports.
HTTPS = env.bool("HTTPS", default=any(host not in LOOPBACK for host in ALLOWED_HOSTS))
# The number of proxies in front; each appends its caller's address to X-Forwarded-For. Anybody may send that header: a
# number here without such a proxy would let everybody forge their address.
PROXY_COUNT = env.int("PROXY_COUNT", default=0)
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# On loopback there is no TLS to redirect to, so Django's advice about it does not apply.
SILENCED_SYSTEM_CHECKS = [] if HTTPS else ["security.W004", "security.W008", "security.W012", "security.W016"]

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

INSTALLED_APPS = [
    # For `runserver` only: as an app it makes every command, and every start, a third of a second slower.
    "echovessel.apps.FrameConfig",  # first: it opens the data folder, whose keys other apps read as they are imported
    *(["daphne"] if "runserver" in sys.argv else []),
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "echovessel.apps.StaticFilesConfig",
    "axes",
    "csp",
    "channels",
    "django_q",
    "ninja",
    "echovessel.llm",
    "echovessel.outbox",
    "echovessel.audit",
    "echovessel.api.tokens",
    "echovessel.apps.AdminConfig",
    "persona",
    "chat",
    "memory",
    "proactive",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "echovessel.web.cors.middleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "echovessel.web.compression.middleware",
    "echovessel.web.no_store.middleware",
    "echovessel.web.retry_after.middleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "echovessel.web.request_bodies.DropNulMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "echovessel.urls"
ASGI_APPLICATION = "echovessel.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "echovessel.web.look.chosen_look",
            ],
        },
    }
]

# --- storage ----------------------------------------------------------------------------------------------------
DATABASE_URL = env.str("DATABASE_URL", default="")
if DATABASE_URL and not DATABASE_URL.startswith("sqlite:///"):
    raise ImproperlyConfigured("DATABASE_URL must look like sqlite:///path/to/echovessel.sqlite3")
DATABASES = {
    "default": {
        "ENGINE": "echovessel.db.sqlite",
        "NAME": BASE_DIR / (DATABASE_URL.removeprefix("sqlite:///") or DATA_DIR / "echovessel.sqlite3"),
        "OPTIONS": {"key": env.str("DATABASE_KEY", default="")},
        # Opening costs 0.9 ms, and closing the last connection checkpoints the WAL: keep them open (measured
        # 2026-11-21).
        "CONN_MAX_AGE": 600,
        "TEST": {"NAME": BASE_DIR / "build" / "test.sqlite3"},
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "echovessel.web.static_storage.HashedStorage"},
}
MEDIA_ROOT = DATA_DIR / "media"
FILE_UPLOAD_HANDLERS = ["memory.imports.uploads.UnnamedUploadHandler"]

# --- users and logins -------------------------------------------------------------------------------------------
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = 0.25  # hours: long enough to stop guessing, short enough not to lock the owner out for a day
# A name together with an address, never an address alone: users who share an address with an attacker can still sign
# in.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_CLIENT_IP_CALLABLE = "echovessel.web.client_address.client_address"
# Otherwise somebody who keeps guessing would lock the owner out for ever.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_CALLABLE = "persona.views.locked_out"
AXES_VERBOSE = False

# --- languages and time -----------------------------------------------------------------------------------------
LANGUAGES = [("en", "English"), ("zh-hans", "中文")]
LANGUAGE_CODE = env.str("LANGUAGE_CODE", default="en")
LOCALE_PATHS = [BASE_DIR / "echovessel" / "locale"]
FORMAT_MODULE_PATH = ["echovessel.locale"]
TIME_ZONE = env.str("TIME_ZONE", default="UTC")
USE_TZ = True

# --- models -----------------------------------------------------------------------------------------------------
LLM_PROVIDER = env.str("LLM_PROVIDER", default="auto")
LLM_BASE_URL = env.str("LLM_BASE_URL", default="")
LLM_API_KEY = env.str("LLM_API_KEY", default="")
OPENAI_API_KEY = env.str("OPENAI_API_KEY", default="")
ANTHROPIC_API_KEY = env.str("ANTHROPIC_API_KEY", default="")
LLM_MODEL_LARGE = env.str("LLM_MODEL_LARGE", default="")
LLM_MODEL_MEDIUM = env.str("LLM_MODEL_MEDIUM", default="")
LLM_MODEL_SMALL = env.str("LLM_MODEL_SMALL", default="")
LLM_TIMEOUT_S = env.float("LLM_TIMEOUT_S", default=120.0)
# US dollars per million tokens, by model: {"name": {"in": 3, "cached": 0.3, "out": 15}}; a model not listed costs null.
LLM_PRICES: dict[str, dict[str, float]] = json.loads(env.str("LLM_PRICES", default="{}"))
# The first embedding model. Once there are vectors, the database says which model is in use (manage.py reembed).
EMBEDDING_MODEL = env.str("EMBEDDING_MODEL", default="all-MiniLM-L6-v2")
# Any server with OpenAI's /v1/embeddings; EMBEDDING_MODEL is then the model's name on that server.
EMBEDDING_BASE_URL = env.str("EMBEDDING_BASE_URL", default="")
EMBEDDING_API_KEY = env.str("EMBEDDING_API_KEY", default="")
# For models that are not in the table of embeddings/model_names.py. None: the table's value.
EMBEDDING_QUERY_PREFIX = env.str("EMBEDDING_QUERY_PREFIX", default=None)
EMBEDDING_DOCUMENT_PREFIX = env.str("EMBEDDING_DOCUMENT_PREFIX", default=None)
EMBEDDING_POOLING = env.str("EMBEDDING_POOLING", default="")
EMBEDDING_DIMENSIONS = env.int("EMBEDDING_DIMENSIONS", default=0)
# Any server with /rerank in the form of Jina and Cohere. Set both or neither.
RERANK_BASE_URL = env.str("RERANK_BASE_URL", default="")
RERANK_MODEL = env.str("RERANK_MODEL", default="")
RERANK_API_KEY = env.str("RERANK_API_KEY", default="")

# --- hooks by which lower packages call higher ones ------------------------------------------------------------
# The sections of a prompt in order, like Django's list of context processors. This list is the shape of the prompt.
CHAT_CONTEXT = [
    "persona.context.identity",
    "chat.context.right_now",
    "persona.context.core_blocks",
    "persona.context.mood",
    "memory.context.entities",
    "memory.context.clarification",
    "persona.context.guardrails",
    "memory.context.lessons",
    "chat.context.crisis",
    "memory.context.always_known",
    "memory.context.recollections",
    "memory.context.about_them",
    "memory.context.about_yourself",
    "memory.context.promises",
    "memory.context.expectations",
    "memory.context.question",
    "chat.context.recent_conversation",
    "chat.context.what_they_just_said",
]
# The sections of the prompt for a first message: there is no message to answer, so it says why the persona writes.
PROACTIVE_CONTEXT = [
    "persona.context.identity",
    "chat.context.right_now",
    "persona.context.core_blocks",
    "persona.context.mood",
    "memory.context.entities",
    "persona.context.guardrails",
    "memory.context.lessons",
    "memory.context.always_known",
    "memory.context.recollections",
    "memory.context.about_them",
    "memory.context.about_yourself",
    "memory.context.promises",
    "memory.context.expectations",
    "chat.context.recent_conversation",
    "proactive.context.why_you_write",
]
# Called with the user's key when a user is signed out everywhere or gets a new password.
SIGNED_OUT_EVERYWHERE = ["proactive.push.subscriptions.unsubscribe_all"]
# The archive parts of apps above memory, which imports none of them.
ARCHIVE_PARTS = ["proactive.archive.PARTS"]
# Called by a restore, to repeat in it what was forgotten since the backup.
FORGET_REPLAY = "memory.forgetting.replay"
# The text columns in models of other packages, and what forgetting does to them.
TEXT_COLUMNS = "echovessel.db.text_columns.other_packages.TEXT_COLUMNS"
# The job for a closed session, called with its id.
CHAT_CLOSED_TASK = "memory.tasks.consolidate_session"
# Called before a turn's prompt is assembled, with the turn's key and the time. Only for what must take effect with this
# reply, since the reply waits for it.
CHAT_BEFOREHAND = ["memory.turn_hooks.before_prompt"]
# May answer a turn in place of a model: called with the turn and the time; each returns a text, or "" to pass, and what
# to record on the turn.
CHAT_ANSWERS = ["memory.forgetting.by_word.answer", "memory.requests.by_word.answer"]
# Called when messages are withheld in favour of another version, or shown to models again: with both lists, in the same
# transaction.
CHAT_VERSIONS = ["memory.requests.withhold.follow_version"]
# Called after a turn has ended, off the hot path, with the turn's key and the time.
CHAT_AFTERWARDS = ["memory.turn_hooks.after_turn"]

# --- notifications to browsers (web push) -----------------------------------------------------------------------
# The push services that may be called: hosts (".example.org" includes all subdomains) over https, or whole origins. A
# browser supplies the address itself, and must not make the server call any other place.
PUSH_SERVICES = env.list(
    "PUSH_SERVICES",
    default=[
        "fcm.googleapis.com",  # Chrome and other Chromium browsers
        ".push.services.mozilla.com",  # Firefox
        ".notify.windows.com",  # Edge
        ".push.apple.com",  # Safari
    ],
)
# The contact for push services about this server's notifications (RFC 8292): mailto:… or https://…
PUSH_CONTACT = env.str("PUSH_CONTACT", default="")

# --- jobs -------------------------------------------------------------------------------------------------------
# One worker: SQLite has one writer, and the embedding model wants one thread. `retry` must exceed
# (queue_limit / workers + 2) × timeout, else prefetched jobs run twice (measured in django-q2 1.11.1).
Q_CLUSTER = {
    "name": "echovessel",
    "orm": "default",
    "workers": 1,
    "queue_limit": 1,
    "timeout": 600,
    "retry": 2400,
    "poll": 0.3,
    "save_limit": 50,
    "ack_failures": True,
    "catch_up": False,
    "label": _("Jobs"),
}

# --- numbers ----------------------------------------------------------------------------------------------------
# They take precedence over knobs.toml in the data folder, which `echovessel.process.data_dir` adds when Django starts.
KNOBS: dict[str, Any] = json.loads(env.str("ECHOVESSEL_KNOBS", default="{}"))
FILE_KNOBS: dict[str, Any] = {}  # only those of knobs.toml, for pages that show where a value comes from

# --- logs: never text of people ---------------------------------------------------------------------------------
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "filters": {"names": {"()": "echovessel.process.redaction.WithoutNames"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "INFO"},
    "loggers": {
        # These log prompts, task arguments or request lines at lower levels.
        name: {"level": "WARNING"}
        for name in (
            "django-q", "anthropic", "openai", "httpx2", "httpcore2", "sentence_transformers", "transformers",
            "django.channels.server", "daphne", "axes", "asyncio",
        )
    } | {"django.request": {"filters": ["names"]}},
}  # fmt: skip
