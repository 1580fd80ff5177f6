"""Admin pages of users: deleting a user goes through forgetting, with all their personas."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User

from echovessel.admin import Forgettable

admin.site.unregister(User)


@admin.register(User)
class OwnerAdmin(Forgettable, UserAdmin):
    forgets = "owner"

    def owner_id_of(self, row: Any) -> int | None:
        return int(row.pk)
