"""A file stored in pieces reads like the whole file."""

import hashlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.imports import stored_file
from memory.models import ImportJob, ImportPiece
from persona.models import Persona
from tests.memory.imports.importing_files import begin_import

pytestmark = pytest.mark.django_db
CONTENT = bytes(range(256)) * 40


@pytest.fixture
def job(mira: Persona, monkeypatch: pytest.MonkeyPatch) -> ImportJob:
    monkeypatch.setattr(stored_file, "PIECE_BYTES", 1_000)
    return begin_import(mira, CONTENT, "folder/some.bin")


def test_it_is_kept_in_pieces_under_its_digest(job: ImportJob) -> None:
    assert ImportPiece.objects.count() == 11
    assert (job.file_digest, job.file_size) == (hashlib.sha256(CONTENT).hexdigest(), len(CONTENT))
    assert (job.file_name, job.file_is_here) == ("some.bin", True)


@given(st.lists(st.tuples(st.integers(0, len(CONTENT) + 10), st.integers(0, 3_000)), max_size=8))
def test_any_part_of_it_reads_as_in_the_file(job: ImportJob, reads: list[tuple[int, int]]) -> None:
    plain = io.BytesIO(CONTENT)
    with stored_file.open_file(job) as source, source.open() as file:
        for place, size in reads:
            assert file.seek(place) == plain.seek(place)
            assert file.read(size) == plain.read(size)


def test_a_file_that_is_taken_away_while_it_is_read_is_a_fault(job: ImportJob) -> None:
    with stored_file.open_file(job) as source, source.open() as file:
        assert stored_file.drop_file(job) == 11
        with pytest.raises(ImportPiece.DoesNotExist):
            file.read()
    assert stored_file.drop_file(job) == 0
