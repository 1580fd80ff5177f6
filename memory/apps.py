from django.apps import AppConfig
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate, pre_migrate
from django.utils.translation import gettext_lazy as _


class MemoryConfig(AppConfig):
    name = "memory"
    verbose_name = _("L3–L5 what remains")

    def ready(self) -> None:
        from memory import model_in_use, vectors  # noqa: PLC0415  (models exist only now)

        # Django drops triggers silently when it rebuilds a table, so they are made anew after every migration.
        pre_migrate.connect(vectors.drop_triggers, sender=self)
        post_migrate.connect(vectors.ensure_indexes, sender=self)
        connection_created.connect(model_in_use.learn)
