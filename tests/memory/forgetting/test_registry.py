"""After a bulk deletion the text indexes are in the same state as after single deletions."""

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone

from chat import search
from echovessel.db.sqlite import erasure
from memory.bench import synthetic
from memory.erasure import receipts
from memory.forgetting import registry
from memory.models import ConceptNode
from memory.store import checks, vectors
from persona.models import Persona

NOW = timezone.now()


def secure_delete_settings() -> list[int]:
    with connection.cursor() as cursor:
        return [
            cursor.execute(f"SELECT v FROM {index.name}_config WHERE k = 'secure-delete'").fetchone()[0]
            for index in (search.INDEX, search.SUBSTRINGS, vectors.TEXT, vectors.SUBSTRINGS)
        ]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("fewer", [10, 10_000])
def test_what_goes_is_in_no_index_and_no_byte_and_what_stays_is_found(
    ana: User, fewer: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "MIN_BULK_ROWS", fewer)
    gone, other_persona = (
        synthetic.write_life(ana, synthetic.Size(20, 60), seed=seed, progress=False) for seed in (1, 2)
    )
    words = [message.content for message in gone.messages.all()] + [node.description for node in gone.nodes.all()]
    with transaction.atomic():
        with registry.bulk_deletion(80):
            Persona.objects.filter(pk=gone.pk).delete()
        receipt = receipts.note_erasure(other_persona, "persona", {}, NOW)
    assert receipts.finish(receipt, NOW)
    assert secure_delete_settings() == [1, 1, 1, 1]
    assert set(checks.broken_invariants(NOW)) <= {
        "talks_miscounted",
        "mentions_not_literal",
    }  # made-up lives are not counted
    whole = [word.encode() for word in words]
    assert erasure.traces(erasure.files(connection), whole) == {}
    memory = ConceptNode.objects.filter(persona=other_persona).first()
    assert memory is not None
    assert memory.pk in vectors.SUBSTRINGS.find(connection, memory.description, 5)


@pytest.mark.django_db
def test_a_deletion_that_fails_leaves_the_indexes_as_they_were(ana: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def delete_and_fail() -> None:
        with transaction.atomic(), registry.bulk_deletion(80):
            Persona.objects.filter(pk=gone.pk).delete()
            raise ZeroDivisionError

    monkeypatch.setattr(registry, "MIN_BULK_ROWS", 10)
    gone = synthetic.write_life(ana, synthetic.Size(20, 60), progress=False)
    before = secure_delete_settings()
    with pytest.raises(ZeroDivisionError):
        delete_and_fail()
    assert secure_delete_settings() == before == [1, 1, 1, 1]
    assert set(checks.broken_invariants(NOW)) <= {"talks_miscounted", "mentions_not_literal"}
