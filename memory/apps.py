from django.apps import AppConfig
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate, pre_migrate
from django.utils.translation import gettext_lazy as _


class MemoryConfig(AppConfig):
    name = "memory"
    verbose_name = _("L3–L5 Memories")

    def ready(self) -> None:
        from memory.store import active_model, vectors  # noqa: PLC0415  (models exist only now)
        from memory.web import admin  # noqa: F401, PLC0415

        # Django drops triggers silently when it rebuilds a table, so they are made anew after every migration.
        pre_migrate.connect(vectors.drop_triggers, sender=self)
        post_migrate.connect(vectors.ensure_indexes, sender=self)
        connection_created.connect(active_model.learn)
