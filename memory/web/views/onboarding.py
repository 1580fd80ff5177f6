"""Beginning with a file: upload, choices and names, and then a new companion who has read it."""

from contextlib import suppress
from typing import cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from memory import imports
from memory.imports import stored_file
from memory.imports.readers import ImportRejected
from memory.imports.readers.cards import CharacterCard, portrait_in
from memory.models import ImportJob, ImportPiece
from memory.web.import_forms import Answers, Names, UploadForm
from memory.web.presenters.imports import import_context, question_context, upload_context
from memory.web.views.base import is_fragment
from memory.web.views.imports import answers, begin_import, cancel, confirm_import, refuse_upload, sent_on, status_of
from persona.companion import pictures
from persona.companion.pictures import PictureRefused
from persona.onboarding.creation import create_persona

MAX_LISTED = 10


@require_http_methods(["GET", "HEAD", "POST"])
def material(request: HttpRequest) -> HttpResponse:
    """The upload form, and the imports that are not finished."""
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
    if request.method == "POST" and (job := begin_import(request, form, None)):
        return sent_on(request, reverse("material_job", args=[job.uuid]))
    status = status_of(request, form)
    if status != 200 and is_fragment(request):
        return refuse_upload(form, status)
    unfinished = [
        import_context(job) for job in _without_persona(request).exclude(status__in=ImportJob.OVER)[:MAX_LISTED]
    ]
    return render(request, "material.html", {"form": form, "jobs": unfinished, **upload_context()}, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def material_job(request: HttpRequest, job: UUID) -> HttpResponse:
    """One import without a companion: its analysis, then the questions. Once the companion exists, redirects to its
    page."""
    row = get_object_or_404(_of(request), uuid=job)
    if row.persona is not None:
        return redirect("import_job", row.persona.uuid, row.uuid)
    context = {**import_context(row), "cancel_url": reverse("cancel_material", args=[row.uuid])}
    if is_fragment(request):
        return render(request, "memory/_import.html", context)
    if row.status != ImportJob.Status.ASKING:
        return render(request, "material_job.html", context)
    form = answers(request, row)
    names = None if form.questions else Names(request.POST or None, form)
    if request.method == "POST" and _continue_import(request, row, form, names):
        return redirect("material_job", row.uuid)
    context |= {"form": form, "names": names, **question_context(row)}
    return render(request, "material_job.html", context, status=422 if form.is_bound else 200)


@require_POST
def cancel_material(request: HttpRequest, job: UUID) -> HttpResponse:
    """Cancel the import, and delete the file."""
    row = get_object_or_404(_without_persona(request), uuid=job)
    cancel(request, row)
    return redirect("onboarding_material")


def _of(request: HttpRequest) -> QuerySet[ImportJob]:
    return ImportJob.objects.filter(owner_id=cast(int, request.user.pk)).select_related("persona")


def _without_persona(request: HttpRequest) -> QuerySet[ImportJob]:
    """Imports that have no persona yet."""
    return _of(request).filter(persona=None)


def _continue_import(request: HttpRequest, job: ImportJob, form: Answers, names: Names | None) -> bool:
    """Whether the import continues: analyzed again, or with a companion created now."""
    if names is None or form.is_reanalysis:
        return form.is_valid() and confirm_import(job, form)
    if not all([form.is_valid(), names.is_valid()]):
        return False
    portrait = b""
    if job.format == CharacterCard.name:
        with suppress(ImportRejected, ImportPiece.DoesNotExist):
            portrait = portrait_in(stored_file.open_file(job), pictures.MAX_BYTES)
    with transaction.atomic():
        goes_on = confirm_import(job, form, lambda: _meet(request, job, form, names, portrait))
        transaction.set_rollback(not goes_on)
    return goes_on


def _meet(request: HttpRequest, job: ImportJob, form: Answers, names: Names, portrait: bytes) -> None:
    """Create the companion. Its core block is left empty: the file is read first, and its drafts are for the owner to
    accept."""
    cleaned = names.cleaned_data
    persona = create_persona(
        cast(User, request.user),
        cleaned["name"],
        user_name=cleaned["user_name"],
        language=cleaned["language"],
        timezone=form.cleaned_data["zone"],
    )
    imports.assign_persona(job, persona)
    try:
        if portrait:
            pictures.save_picture(persona, portrait)
    except PictureRefused as refusal:
        left_out = _("The picture of the card was left out: %(why)s") % {"why": pictures.explain(refusal)}
        transaction.on_commit(lambda: messages.warning(request, left_out))
