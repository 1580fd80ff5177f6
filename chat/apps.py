from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate
from django.utils.translation import gettext_lazy as _


class ChatConfig(AppConfig):
    name = "chat"
    verbose_name = _("L2 Messages")

    def ready(self) -> None:
        from chat import search  # noqa: PLC0415  (models exist only now)

        # Django drops triggers silently when it rebuilds a table, so they are created again after every migration.
        pre_migrate.connect(search.drop_triggers, sender=self)
        post_migrate.connect(search.ensure_index, sender=self)
