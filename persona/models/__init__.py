from persona.models.core_block import CoreBlock, CoreBlockVersion
from persona.models.core_draft import CoreDraft, DraftQuote
from persona.models.mood_change import MoodChange
from persona.models.persona import Persona
from persona.models.picture import Picture

__all__ = ["CoreBlock", "CoreBlockVersion", "CoreDraft", "DraftQuote", "MoodChange", "Persona", "Picture"]
