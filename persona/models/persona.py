"""The persona: one companion of one owner, with its structured facts and its mood (L6)."""

import re
import zoneinfo
from typing import TYPE_CHECKING

from django.apps import apps
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from echovessel.db.public_id import PublicId
from echovessel.db.text_columns import CLEAR, NO_WORDS, WRITTEN_BY_OWNER, TextColumn

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


def validate_timezone(name: str) -> None:
    """Raise ValidationError unless `name` is an IANA time zone, such as Asia/Shanghai."""
    try:
        zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError) as error:
        raise ValidationError(_("%(name)s is not a time zone."), params={"name": name}) from error


# Characters that change the text direction beyond the name, and characters without width: kept, they would garble every
# sentence that contains the name. Joiners stay: letters and emoji need them.
_UNNAMEABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\u2800\u3164\ufeff\uffa0]+"
)


def clean_name(text: str) -> str:
    """The name in one line, without invisible characters."""
    return " ".join(_UNNAMEABLE.sub(" ", text).split())


class PersonaQuerySet(models.QuerySet["Persona"]):
    def owned_by(self, user: "AbstractBaseUser | AnonymousUser") -> "PersonaQuerySet":
        """The personas of `user`; nobody else's exist for them."""
        return self.filter(owner_id=user.pk) if user.pk else self.none()


MAX_GREETING = 20_000  # characters, as of a message
_NAMELESS = {"en": "the user", "zh": "用户"}


class Persona(PublicId):
    """The companion that an owner talks to. Every memory belongs to exactly one persona."""

    class Language(models.TextChoices):
        ENGLISH = "en", _("English")
        CHINESE = "zh", _("Chinese")

    class Colour(models.TextChoices):
        """Colour of the jar that stands for the persona."""

        CELADON = "celadon", _("Celadon")
        CLAY = "clay", _("Clay")
        AMBER = "amber", _("Amber")
        PLUM = "plum", _("Plum")
        INDIGO = "indigo", _("Indigo")
        SLATE = "slate", _("Slate")

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="personas", verbose_name=_("owner")
    )
    name = models.CharField(_("name"), max_length=80)
    user_name = models.CharField(_("what they call you"), max_length=80, blank=True)
    # The name that the owner asked for in conversation; memory keeps it equal to the lesson that says so.
    asked_name = models.CharField(
        _("what you asked to be called"), max_length=80, blank=True, default="", editable=False
    )
    greeting = models.TextField(
        _("greeting"), max_length=MAX_GREETING, blank=True, default="", help_text=_("said when nothing was said before")
    )
    greeting_by_model = models.BooleanField(default=False, editable=False)  # from the core blocks, until they change
    greeting_import_uuid = models.UUIDField(null=True, editable=False)  # the import whose character card it is from
    timezone = models.CharField(_("your time zone"), max_length=64, default="UTC", validators=[validate_timezone])
    language = models.CharField(_("language"), max_length=8, choices=Language, default=Language.ENGLISH)
    colour = models.CharField(_("colour"), max_length=8, choices=Colour, default=Colour.CELADON)
    facts = models.JSONField(_("facts"), default=dict, blank=True)
    episodic_state = models.JSONField(_("mood"), default=dict, blank=True, editable=False)
    # No first messages before this time, because the owner spoke of a crisis. It records nothing else, and is cleared
    # once past.
    care_until = models.DateTimeField(_("no first message before"), null=True, blank=True, editable=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    text_columns = {
        "name": WRITTEN_BY_OWNER,
        "user_name": WRITTEN_BY_OWNER,
        "asked_name": TextColumn(CLEAR),
        "greeting": WRITTEN_BY_OWNER,
        "facts": WRITTEN_BY_OWNER,
        "timezone": NO_WORDS,
        "episodic_state": TextColumn(CLEAR, cleared={}, archived=True),
    }

    objects = PersonaQuerySet.as_manager()

    class Meta:
        verbose_name = _("persona")
        verbose_name_plural = _("personas")
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "external_id"], name="persona_external_id_once_per_owner"),
            models.CheckConstraint(condition=~models.Q(name=""), name="persona_has_a_name"),
        ]
        permissions = [
            ("read_words", _("May read other people's messages and memories")),
            ("forget_words", _("May delete other people's messages and memories")),
        ]

    def __str__(self) -> str:
        return f"persona {self.pk}"

    def clean(self) -> None:
        self.name, self.user_name = clean_name(self.name), clean_name(self.user_name)
        if not self.name:
            raise ValidationError({"name": _("This field cannot be blank.")})
        if not isinstance(self.facts, dict):
            raise ValidationError({"facts": _("Facts must be an object of names and values.")})

    @cached_property
    def picture_version(self) -> str:
        """Version of the picture, for its URL; "" without one. The picture itself is not read."""
        picture = apps.get_model("persona", "Picture").objects.filter(persona=self).defer("content").first()
        return picture.version if picture else ""

    def drop_model_greeting(self) -> None:
        """Clear a greeting that a model wrote: its source has changed, or it has become a message."""
        Persona.objects.filter(pk=self.pk, greeting_by_model=True).update(greeting="", greeting_by_model=False)

    @property
    def zone(self) -> zoneinfo.ZoneInfo:
        """The owner's time zone, for the beginning of days and for dates."""
        return zoneinfo.ZoneInfo(self.timezone)

    @property
    def user_display_name(self) -> str:
        """The owner's name as the persona uses it. The account's name is not used: without another one it is "the
        user"."""
        return self.asked_name or self.user_name or _NAMELESS[self.language]
