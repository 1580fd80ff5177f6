"""Review of core blocks: each block's text, with the open drafts for it."""

from dataclasses import dataclass

from django.db.models import QuerySet

from persona.models import CoreDraft, Persona
from persona.models.core_block import Label
from persona.onboarding import drafts


@dataclass(frozen=True)
class ReviewedBlock:
    """A core block: its text, its free characters, and its open drafts."""

    label: str
    content: str
    free_characters: int
    drafts: tuple[CoreDraft, ...]

    @property
    def title(self) -> str:
        return str(Label(self.label).label)

    @property
    def fit_together(self) -> bool:
        """Whether all drafts fit into the block."""
        return sum(len(draft.text) + 1 for draft in self.drafts) <= self.free_characters + 1


def review_blocks(persona: Persona) -> list[ReviewedBlock]:
    """The blocks in their order, each with its open drafts and their quotes."""
    contents = dict(persona.core_blocks.values_list("label", "content"))
    waiting = list(waiting_of(persona).prefetch_related("quotes").order_by("id"))
    return [
        ReviewedBlock(
            label,
            contents.get(label, ""),
            drafts.room(persona, label),
            tuple(draft for draft in waiting if draft.label == label),
        )
        for label in Label.values
    ]


def waiting_of(persona: Persona) -> QuerySet[CoreDraft]:
    """Drafts without a decision."""
    return CoreDraft.objects.open().filter(persona=persona)
