"""Photos of people, places and animals that an owner adds: shown on their pages, and forgotten with them.

A merge does not move photos: an entity without a photo of its own shows that of an entity merged into it. Undoing the
merge returns each its own.
"""

from collections.abc import Iterable

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from memory.models import Entity, Photo
from persona.companion.pictures import PictureChanged, only_pixels


def photos_of(entities: Iterable[Entity]) -> dict[int, Photo]:
    """The photos of these entities by entity key, without loading their pixels."""
    keys = [entity.pk for entity in entities]
    photos = Photo.objects.defer("content").select_related("entity").order_by("-entity_id")
    absorbed = photos.filter(entity__merged_into__in=keys)
    own = photos.filter(entity__in=keys)
    return {photo.entity.merged_into_id or 0: photo for photo in absorbed} | {photo.entity_id: photo for photo in own}


def photo_of(entity: Entity) -> Photo | None:
    return photos_of([entity]).get(entity.pk)


def save_photo(entity: Entity, data: bytes, expected_name: str | None = None) -> None:
    """Store the photo, replacing the previous one. Raises PictureRefused, and PictureChanged if the stored photo is not
    the version `seen`."""
    picture_format, content = only_pixels(data)
    values = {"format": picture_format, "content": content, "saved_at": timezone.now()}
    with transaction.atomic():
        _expect(entity, expected_name)
        Photo.objects.update_or_create(entity=entity, defaults=values)


def remove_photo(entity: Entity, expected_name: str | None = None) -> None:
    """Delete the photo, and those of merged entities, so that none of them takes its place. Raises PictureChanged."""
    with transaction.atomic():
        _expect(entity, expected_name)
        Photo.objects.filter(Q(entity=entity) | Q(entity__merged_into=entity)).delete()


def _expect(entity: Entity, expected_name: str | None) -> None:
    current_photo = photo_of(entity)
    if expected_name is not None and expected_name != (current_photo.version if current_photo else ""):
        raise PictureChanged
