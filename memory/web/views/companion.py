"""The companion's page: who they are and how they look, each part saved separately; and the picture, for its owner."""

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from memory.imports import uploads
from memory.models import Lesson
from memory.recall.always_known import always_known
from memory.recall.render import format_uuid
from memory.web.views.base import page, persona_page
from persona.companion import pictures
from persona.companion.parts import PARTS, ChangedMeanwhile, PartForm
from persona.companion.pictures import PictureChanged, PictureRefused
from persona.companion.zones import listed_zones
from persona.models import Persona, Picture
from persona.models.picture import StoredPicture

MAX_LISTED = 5
MAX_VERSIONS = 30
PICTURE_CHANGED = gettext_lazy("The picture was changed in another tab or on another device. This is how it is now.")


@persona_page
@require_http_methods(["GET", "HEAD", "POST"])
def companion(request: HttpRequest, persona: Persona) -> HttpResponse:
    """Show all parts; save the one that was submitted."""
    if request.method != "POST":
        return _render(request, persona)
    part = request.POST.get("part", "")
    if part == "picture":
        return _save_picture(request, persona)
    if part not in PARTS:
        raise Http404
    form = PARTS[part](persona, _restored_fields(request, persona, part) or request.POST)
    if not form.is_valid():
        return _render(request, persona, form, status=422)
    try:
        form.save(cast(User, request.user))
    except ChangedMeanwhile:
        return _render(request, persona, form, is_changed=True, status=409)
    except ValidationError as error:
        form.add_error(None, error)
        return _render(request, persona, form, status=422)
    messages.success(request, _("Saved. It applies from the next message on."))
    return _back(persona, part)


def _restored_fields(request: HttpRequest, persona: Persona, part: str) -> dict[str, Any] | None:
    """The fields of a part with an earlier wording of its text, if one is to be restored."""
    number = request.POST.get("restore", "")
    form = PARTS[part]
    if not (number.isdecimal() and form.label):
        return None
    try:
        return form.earlier_values(persona, int(number[:9])) | {"seen": request.POST.get("seen", "")}
    except ObjectDoesNotExist as error:
        raise Http404 from error


def _save_picture(request: HttpRequest, persona: Persona) -> HttpResponse:
    """Replace or remove the picture."""
    version_seen = request.POST.get("seen", "")
    try:
        if "remove" in request.POST:
            pictures.remove_picture(persona, version_seen)
            messages.success(request, _("The picture is removed."))
        else:
            pictures.save_picture(persona, read_picture(request), version_seen)
            messages.success(request, _("The picture is saved."))
    except PictureChanged:
        return _render(request, persona, picture_trouble=PICTURE_CHANGED, status=409)
    except PictureRefused as refusal:
        return _render(request, persona, picture_trouble=pictures.explain(refusal), status=422)
    return _back(persona, "picture")


def read_picture(request: HttpRequest) -> bytes:
    """The uploaded picture. Raises PictureRefused."""
    if uploads.is_too_big(request):
        raise PictureRefused("too_big")
    file = request.FILES.get("picture")
    if file is None:
        raise PictureRefused("none")
    return file.read()


def _back(persona: Persona, part: str) -> HttpResponse:
    return redirect(f"{reverse('companion', args=[persona.uuid])}#{part}")


def _render(
    request: HttpRequest,
    persona: Persona,
    posted: PartForm | None = None,
    *,
    is_changed: bool = False,
    picture_trouble: Any = "",
    status: int = 200,
) -> HttpResponse:
    persona = Persona.objects.select_related("owner").get(pk=persona.pk)
    blocks = {block.label: block for block in persona.core_blocks.prefetch_related("versions")}
    parts: dict[str, Any] = {}
    for name, form_class in PARTS.items():
        fresh = form_class(persona)
        is_posted = posted is not None and posted.part == name
        block = blocks.get(form_class.label)
        parts[name] = {
            "form": posted if is_posted else fresh,
            "seen": fresh.initial["seen"],
            "is_changed": is_posted and is_changed,
            "now": [(fresh[field].label, shown_value(fresh, field)) for field in fresh.fields if field != "seen"],
            "versions": block.versions.all()[:MAX_VERSIONS] if block else [],
        }
    context = {
        "parts": parts,
        "zones": listed_zones(timezone.now()),
        "picture_trouble": picture_trouble,
        "max_picture_bytes": pictures.MAX_BYTES,
        "wishes": Lesson.objects.filter(persona=persona, status="active").order_by("-created_at", "-id")[:MAX_LISTED],
        "known": [
            {"uuid": format_uuid(known_node.node.uuid_hex), "text": known_node.node.description}
            for known_node in always_known(persona.pk)[:MAX_LISTED]
        ],
    }
    return page(request, persona, "memory/companion.html", context, status=status)


def shown_value(form: PartForm, field: str) -> str:
    """The stored value of a field, as people read it."""
    value = form[field].value() or ""
    choices = dict(getattr(form.fields[field], "choices", ()))
    return str(choices.get(value, value))


# Files too large for a picture are not stored while the form is read (memory/imports/uploads.py).
companion.max_upload_bytes = pictures.MAX_BYTES  # type: ignore[attr-defined]


@persona_page
@require_safe
def picture(request: HttpRequest, persona: Persona) -> HttpResponse:
    """The picture, for its owner only. No cache keeps it, and opened as a page it can run nothing."""
    return show_picture(get_object_or_404(Picture, persona=persona))


def show_picture(picture: StoredPicture) -> HttpResponse:
    response = HttpResponse(picture.content, content_type=f"image/{picture.format}")
    response["Content-Disposition"] = "inline"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response
