"""Uploaded files: stored without a name, and limited in size.

Django's own handler gives a large file a name in the temporary folder, where it outlives a killed process. Here it has
no name, so that it vanishes with the process that reads it.
"""

from tempfile import SpooledTemporaryFile
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import HttpRequest

from memory import knobs


class UnnamedUploadHandler(FileUploadHandler):
    """All files of a request together may be as large as the knob allows. A larger one is dropped, but the form is
    still read, so that the page can report it."""

    bytes_received = 0
    file: Any

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.file = SpooledTemporaryFile(max_size=settings.FILE_UPLOAD_MAX_MEMORY_SIZE)  # noqa: SIM115

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.bytes_received += len(raw_data)
        # A view may accept less than imports do, as `max_upload_bytes`.
        match = self.request and self.request.resolver_match
        if self.bytes_received > (getattr(match and match.func, "max_upload_bytes", 0) or most_bytes()):
            self.file.close()
            self.request.upload_is_too_big = True  # type: ignore[union-attr]
            raise SkipFile
        self.file.write(raw_data)

    def file_complete(self, file_size: int) -> UploadedFile:
        self.file.seek(0)
        return UploadedFile(self.file, self.file_name, self.content_type, file_size, self.charset)

    def upload_interrupted(self) -> None:
        if hasattr(self, "file"):
            self.file.close()


def is_too_big(request: HttpRequest) -> bool:
    """Whether a file was dropped because it is larger than the limit."""
    return len(request.FILES) == 0 and getattr(request, "upload_is_too_big", False)


def most_bytes() -> int:
    return knobs.import_upload_megabytes() * 1024**2
