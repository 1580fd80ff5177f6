"""API of exports: a persona as a file, in our own format or in one that others read."""

from typing import Any, Literal
from uuid import UUID

from django.http import HttpRequest, StreamingHttpResponse
from django.utils import timezone

from echovessel.web.downloads import download
from memory.exports import WAYS
from memory.web.api.routing import router
from persona.lookup import own_persona

Format = Literal["archive", "pam", "card", "card_png"]
_FILE = {"schema": {"type": "string", "format": "binary"}, "example": "…"}
_CARD: dict[str, Any] = {"schema": {"type": "object"}, "example": {"spec": "chara_card_v3"}}
_FILES: dict[str, Any] = {way.media_type: _FILE for way in WAYS.values()} | {"application/json": _CARD}


@router.get(
    "/{uuid:persona_id}/export",
    summary="Export a persona",
    openapi_extra={"responses": {200: {"description": "The file.", "content": _FILES}}},
)
def export_persona(request: HttpRequest, persona_id: UUID, format: Format = "archive") -> StreamingHttpResponse:  # noqa: A002
    """`archive`: everything, to be restored as it is (JSON lines). `pam`: conversations and memories as Portable AI
    Memory 1.0 (zip). `card`, `card_png`: who the persona is, as a character card V3. Sessions off the record are in
    none of them."""
    persona, now = own_persona(request, persona_id), timezone.now()
    way = WAYS[format]
    return download(request, way.write(persona, now), way.media_type, way.file_name(persona, now))
