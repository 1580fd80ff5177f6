"""Uploads: no named file on the disk, and no more bytes than the limit."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpRequest
from django.test import RequestFactory

from memory import knobs
from memory.imports import uploads

MEGABYTE = 1024**2


def upload_request(*sizes: int, **fields: str) -> HttpRequest:
    files = {f"file_{number}": SimpleUploadedFile(f"{number}.txt", b"x" * size) for number, size in enumerate(sizes)}
    return RequestFactory().post("/", {**files, **fields})


def test_a_large_file_is_read_whole_and_has_no_name_on_the_disk(settings: Any, tmp_path: Any) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    request = upload_request(4 * MEGABYTE, answer="yes")
    upload: Any = request.FILES["file_0"]
    assert (len(upload.read()), upload.size, upload.name) == (4 * MEGABYTE, 4 * MEGABYTE, "0.txt")
    assert list(tmp_path.iterdir()) == []
    assert not uploads.is_too_big(request)


@pytest.mark.parametrize("sizes", [(MEGABYTE + 1,), (MEGABYTE, 1)])
def test_what_is_beyond_the_bound_is_left_out_and_the_fields_are_read(settings: Any, sizes: tuple[int, ...]) -> None:
    settings.KNOBS = {knobs.import_upload_megabytes.name: 1}
    request = upload_request(*sizes, answer="yes")
    assert request.POST["answer"] == "yes"
    assert len(request.FILES) == len(sizes) - 1
    assert uploads.is_too_big(request) == (len(sizes) == 1)
