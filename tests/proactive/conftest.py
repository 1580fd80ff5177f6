"""A persona that may speak first."""

from datetime import timedelta

import pytest

from persona.models import Persona
from proactive.models import ReachingOut
from tests.memory.sessions import NOW


@pytest.fixture
def allowed(mira: Persona) -> ReachingOut:
    """Mira's owner, in Shanghai, has turned it on a while ago and left the bounds as they are."""
    return ReachingOut.objects.create(persona=mira, enabled=True, changed_at=NOW - timedelta(days=100))
