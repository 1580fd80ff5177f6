"""Importing a file: upload, analysis, choices, progress; or cancelling it.

For an existing companion; `memory.web.views.onboarding` begins with a file instead.
"""

from collections.abc import Callable
from typing import cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from memory import imports as memory_imports
from memory.imports import WrongChoice, uploads
from memory.imports.readers import Source
from memory.imports.readers.types import ImportRejected
from memory.models import ImportJob
from memory.web.import_forms import Answers, UploadForm
from memory.web.presenters.imports import import_context, import_story, question_context, upload_context
from memory.web.views.base import is_fragment, page, persona_page
from persona.models import Persona

MAX_LISTED = 30


@persona_page
@require_http_methods(["GET", "HEAD", "POST"])
def imports(request: HttpRequest, persona: Persona) -> HttpResponse:
    """The imports so far, and a form for another."""
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
    if request.method == "POST" and (job := begin_import(request, form, persona)):
        return sent_on(request, reverse("import_job", args=[persona.uuid, job.uuid]))
    status = status_of(request, form)
    if status != 200 and is_fragment(request):
        return refuse_upload(form, status)
    jobs = ImportJob.objects.filter(persona=persona).select_related("persona")[:MAX_LISTED]
    context = {"form": form, "jobs": [import_context(job) for job in jobs], **upload_context()}
    return page(request, persona, "memory/imports.html", context, status=status)


@persona_page
@require_http_methods(["GET", "HEAD", "POST"])
def import_job(request: HttpRequest, persona: Persona, job: UUID) -> HttpResponse:
    """One import: its progress; while it waits for answers, the questions."""
    row = get_object_or_404(ImportJob.objects.select_related("persona"), persona=persona, uuid=job)
    context = {
        **import_context(row),
        "story": import_story(row),
        "cancel_url": reverse("cancel_import", args=[persona.uuid, row.uuid]),
    }
    if is_fragment(request):
        return render(request, "memory/_import.html", {"persona": persona, **context})
    if row.status != ImportJob.Status.ASKING:
        return page(request, persona, "memory/import.html", context)
    form = answers(request, row)
    if request.method == "POST" and form.is_valid() and confirm_import(row, form):
        return redirect("import_job", persona.uuid, row.uuid)
    context |= {"form": form, "persona_name": persona.name, **question_context(row)}
    return page(request, persona, "memory/import.html", context, status=422 if form.is_bound else 200)


@persona_page
@require_POST
def cancel_import(request: HttpRequest, persona: Persona, job: UUID) -> HttpResponse:
    """Cancel an import. What was consolidated stays."""
    row = get_object_or_404(ImportJob, persona=persona, uuid=job)
    cancel(request, row)
    return redirect("import_job", persona.uuid, row.uuid)


# --- shared with onboarding -------------------------------------------------------------------------------------------
def begin_import(request: HttpRequest, form: UploadForm, persona: Persona | None) -> ImportJob | None:
    """Begin an import of the uploaded file; None if there is none, and the form has the reason."""
    if uploads.is_too_big(request):
        megabytes = uploads.most_bytes() // 1024**2
        form.errors["file"] = form.error_class([_("The file is larger than %(most)d MB.") % {"most": megabytes}])
    if not form.is_valid():
        return None
    upload = form.cleaned_data["file"]
    try:
        source = Source(upload.file, upload.name)
        job = memory_imports.begin(cast(User, request.user), persona, source, now := timezone.now(), keep=True)
    except ImportRejected as error:
        form.add_error("file", error.reason)
        return None
    memory_imports.enqueue(job, now)
    return job


def status_of(request: HttpRequest, form: UploadForm) -> int:
    """The HTTP status of a page that shows the form again."""
    if not form.is_bound:
        return 200
    return 413 if uploads.is_too_big(request) else 422


def sent_on(request: HttpRequest, url: str) -> HttpResponse:
    """Redirect to the next page; a script gets its URL."""
    return JsonResponse({"url": url}, status=201) if is_fragment(request) else redirect(url)


def refuse_upload(form: UploadForm, status: int) -> HttpResponse:
    """The reason why the file was refused, for a script."""
    return JsonResponse({"message": " ".join(map(str, form.errors.get("file", [])))}, status=status)


def answers(request: HttpRequest, job: ImportJob) -> Answers:
    """The form with the questions of the import, filled in with the answers if there are any."""
    return Answers(request.POST if request.method == "POST" else None, job, memory_imports.suggest_choices(job))


def confirm_import(job: ImportJob, form: Answers, meet: Callable[[], None] = lambda: None) -> bool:
    """Confirm the import with these answers. Returns whether it continues; if not, the form has the reason."""
    try:
        meet()
        memory_imports.confirm(job, form.choices(), timezone.now(), reanalyze=form.is_reanalysis)
    except WrongChoice as error:
        form.add_error(None, error.message)
        return False
    return True


def cancel(request: HttpRequest, job: ImportJob) -> None:
    """Cancel it, and show the result."""
    if not memory_imports.cancel(job, timezone.now()):
        words = _("The import had already ended.")
    elif job.finished_at:
        words = _("Stopped. What was not read yet is deleted.")
    else:
        words = _("Stopped. What was not read yet is being deleted.")
    messages.success(request, words)
