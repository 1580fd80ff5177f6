"""Photos of people: added by their owner, shown on their page and on the map, and forgotten with them."""

import io
import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from memory import forgetting
from memory.archive import import_archive, write
from memory.entities import merge
from memory.entities.photos import photo_of, save_photo
from memory.erasure import receipts
from memory.forgetting import Target, verify
from memory.models import Entity, Mention, Photo
from persona.companion import pictures
from persona.companion.pictures import PictureChanged
from persona.models import Persona
from tests.memory.sessions import NOW
from tests.persona.images import PLACE, chunk, jpeg, png, png_with_place

pytestmark = pytest.mark.django_db
SECRET = b"zebra quilt in the pixels of Rosa"


@pytest.fixture
def rosa(mira: Persona, remember: Any) -> Entity:
    return create_person(mira, remember, "Rosa")


def create_person(persona: Persona, remember: Any, name: str) -> Entity:
    entity = Entity.objects.create(persona=persona, canonical_name=name, kind="person")
    entity.aliases.create(persona=persona, text=name, normalized=name.lower())
    Mention.objects.create(node=remember(persona, f"{name} came to dinner."), entity=entity)
    return entity


@pytest.fixture
def owner(mira: Persona, client: Client) -> Client:
    client.force_login(mira.owner)
    return client


def at(entity: Entity, rest: str = "") -> str:
    return f"/memory/{entity.persona.uuid}/people/{entity.uuid}/{rest}"


def send(owner: Client, entity: Entity, data: bytes, **more: str) -> Any:
    file = SimpleUploadedFile("Rosa at home.jpg", data)
    return owner.post(at(entity, "photo/"), {"picture": file, "seen": "", **more})


def test_an_owner_adds_a_photo_replaces_it_and_takes_it_away(owner: Client, rosa: Entity) -> None:
    page = owner.get(at(rosa)).content.decode()
    assert "photo/?" not in page, "the initial stands there"
    assert send(owner, rosa, jpeg()).status_code == 302
    photo = Photo.objects.get()
    assert PLACE not in photo.content
    address = f"{at(rosa, 'photo/')}?{photo.version}"
    assert address in owner.get(at(rosa)).content.decode()
    people = owner.get(f"/memory/{rosa.persona.uuid}/people/").content.decode()
    assert people.count(address) >= 1
    response = owner.get(address)
    assert (response.content, response["Content-Type"]) == (bytes(photo.content), "image/jpeg")
    assert "sandbox" in response["Content-Security-Policy"]
    late = send(owner, rosa, png())
    assert late.status_code == 409
    assert "changed in another tab" in late.content.decode()
    assert send(owner, rosa, png_with_place(), seen=photo.version).status_code == 302
    photo.refresh_from_db()
    assert (photo.format, PLACE in photo.content) == ("png", False)
    assert owner.post(at(rosa, "photo/"), {"remove": "1", "seen": photo.version}).status_code == 302
    assert not Photo.objects.exists()
    assert owner.get(at(rosa, "photo/")).status_code == 404


def test_what_is_no_picture_is_refused_with_the_reason(owner: Client, rosa: Entity) -> None:
    for data, words in ((b"<svg onload='x'/>", "SVG drawings"), (b"GIF89a", "not a PNG"), (png()[:40], "damaged")):
        refused = send(owner, rosa, data)
        assert refused.status_code == 422
        assert words in refused.content.decode()
    assert "Choose a picture first." in owner.post(at(rosa, "photo/"), {"seen": ""}).content.decode()
    big = send(owner, rosa, png() + bytes(pictures.MAX_BYTES))
    assert (big.status_code, "larger than 10 MB" in big.content.decode()) == (422, True)
    assert not Photo.objects.exists()


def test_a_photo_of_two_who_are_one_is_shown_and_goes_back_with_the_merge(
    owner: Client, mira: Persona, rosa: Entity, remember: Any
) -> None:
    rosie = create_person(mira, remember, "Rosie")
    save_photo(rosie, png())
    proposal = merge.merge_pair(rosa, rosie, mira.owner, NOW)
    rosa.refresh_from_db()
    photo = photo_of(rosa)
    assert photo is not None
    assert f"people/{rosa.uuid}/photo/?{photo.version}" in owner.get(at(rosa)).content.decode()
    assert owner.get(at(rosa, "photo/")).content == bytes(photo.content)
    assert merge.undo(proposal, mira.owner, NOW)
    rosa.refresh_from_db()
    assert (photo_of(rosa), photo_of(rosie)) == (None, photo)
    merge.merge_pair(rosa, rosie, mira.owner, NOW)
    save_photo(rosa, jpeg(), photo.version)
    rosa_photo = photo_of(rosa)
    assert rosa_photo is not None
    assert rosa_photo.format == "jpeg", "one's own comes first"
    owner.post(at(rosa, "photo/"), {"remove": "1", "seen": rosa_photo.version})
    assert not Photo.objects.exists(), "no other one takes its place"


def test_two_tabs_change_the_companions_picture_one_after_the_other(mira: Persona) -> None:
    pictures.save_picture(mira, png(), version_seen="")
    for late in (
        lambda: pictures.save_picture(mira, jpeg(), version_seen=""),
        lambda: pictures.remove_picture(mira, version_seen=""),
    ):
        with pytest.raises(PictureChanged):
            late()
    assert mira.picture.format == "png"
    pictures.remove_picture(mira, version_seen=mira.picture.version)


@pytest.mark.django_db(transaction=True)
def test_a_photo_is_forgotten_with_the_person_to_its_last_byte(mira: Persona, remember: Any) -> None:
    rosa = create_person(mira, remember, "Rosa")
    save_photo(rosa, png(extra=chunk(b"gAMA", SECRET)))
    assert SECRET in Photo.objects.get().content
    before = forgetting.plan([Target("entity", rosa.pk)])
    assert before.counts["memory_photo"] == 1
    forgetting.forget(before, mira.owner, NOW)
    receipts.finish_pending(timezone.now())
    assert not Photo.objects.exists()
    assert verify.find_texts([SECRET.decode()]) == []


def test_an_archive_holds_the_photo_and_brings_it_back_checked(mira: Persona, rosa: Entity, ben: User) -> None:
    save_photo(rosa, jpeg())
    records = [json.loads(line) for line in b"".join(write.archive_lines(mira, NOW)).splitlines()]
    [record] = [record for record in records if record.get("type") == "entity"]
    assert record["picture"]
    for picture, comes_back in ((record["picture"], True), ("PHN2Zy8+", False), ("!", False), (None, False)):
        record["picture"] = picture
        if picture is None:
            del record["picture"]
        file = io.BytesIO("\n".join(json.dumps(record) for record in records).encode())
        other = import_archive(file, ben).persona
        entity = other.entities.get()
        assert entity.canonical_name == "Rosa"
        photo = photo_of(entity)
        assert (photo is not None) == comes_back, picture
        assert photo is None or bytes(photo.content) == bytes(Photo.objects.get(entity=rosa).content)
        other.delete()
