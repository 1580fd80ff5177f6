"""App configs of the frame."""

from typing import Any

from django.apps import AppConfig, apps
from django.contrib.admin.apps import AdminConfig as DjangoAdminConfig
from django.contrib.staticfiles.apps import StaticFilesConfig as DjangoStaticFilesConfig
from django.db.models.signals import post_migrate

from echovessel.process import heap, lifeline
from echovessel.process.data_dir import open_data_dir


class FrameConfig(AppConfig):
    """The frame itself: its management commands, checks and the schedule."""

    name = "echovessel"
    label = "frame"

    def __init__(self, app_name: str, app_module: Any) -> None:
        super().__init__(app_name, app_module)
        heap.return_large_blocks()
        heap.pause_collector()
        lifeline.with_supervisor()  # before this process holds anything that others wait for
        open_data_dir()

    def ready(self) -> None:
        from echovessel import checks, schedule  # noqa: F401, PLC0415  (models exist only now)
        from echovessel.web import access_revocation  # noqa: PLC0415  (models exist only now)

        access_revocation.connect()
        # Not `sender=self`: Django sends post_migrate only for apps with models, and the frame has none.
        post_migrate.connect(schedule.ensure, sender=apps.get_app_config("django_q"))
        heap.resume_collector()


class StaticFilesConfig(DjangoStaticFilesConfig):
    """Django's, without what no page asks for: Redoc and the source maps of the API's documentation, which are more
    than half of all bytes and half of the time to collect them (2.2 s of a core, 2026-11)."""

    ignore_patterns = [*DjangoStaticFilesConfig.ignore_patterns, "*.map", "redoc*"]


class AdminConfig(DjangoAdminConfig):
    """Django's admin, with our sections in layer order."""

    default_site = "echovessel.admin_site.EchoVesselAdminSite"

    def ready(self) -> None:
        from echovessel.admin import groups  # noqa: PLC0415  (models exist only now)

        super().ready()
        # The last app whose permissions the groups get. Connected after django.contrib.auth, which creates that app's
        # permissions on the same signal.
        post_migrate.connect(groups.ensure, sender=apps.get_app_config("proactive"))
