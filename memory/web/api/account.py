"""API of the caller's own records without a persona: the receipts of deleted personas."""

from typing import Any, cast
from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router

from echovessel.api import pagination
from echovessel.api.pagination import Page
from memory.models import Receipt
from memory.web.api.forgetting import ReceiptOut
from memory.web.serializers import serialize_receipt

router = Router()


@router.get("/receipts", response=Page[ReceiptOut], summary="Receipts of deleted personas")
def list_account_receipts(request: HttpRequest, params: Query[pagination.PageParams]) -> Any:
    """What was deleted with each persona, in counts; newest first."""
    return pagination.page(_receipts(request), params, serialize_receipt)


@router.get("/receipts/{uuid:receipt_id}", response=ReceiptOut, summary="The receipt of a deleted persona")
def get_account_receipt(request: HttpRequest, receipt_id: UUID) -> dict[str, Any]:
    """Poll it while its status is `pending`: the bytes are still being erased."""
    return serialize_receipt(get_object_or_404(_receipts(request), uuid=receipt_id))


def _receipts(request: HttpRequest) -> Any:
    return Receipt.objects.filter(owner_id=cast(int, request.user.pk), persona=None)
