"""L4: thoughts (conclusions from events), intentions (promises), expectations, and lessons (how the owner wants the
persona to be with them)."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from memory.models.node import ConceptNode, KindManager


class Thought(ConceptNode):
    """A quiet impression, concluded from events."""

    objects: ClassVar[KindManager] = KindManager(ConceptNode.Kind.THOUGHT)  # type: ignore[assignment]

    class Meta:
        proxy = True
        verbose_name = _("L4 thought")
        verbose_name_plural = _("L4 thoughts")


class Intention(ConceptNode):
    """A promise of the persona, with its date."""

    objects: ClassVar[KindManager] = KindManager(ConceptNode.Kind.INTENTION)  # type: ignore[assignment]

    class Meta:
        proxy = True
        verbose_name = _("L4 intention")
        verbose_name_plural = _("L4 intentions")


class Expectation(ConceptNode):
    """Something that may happen; due at the end of its event time."""

    objects: ClassVar[KindManager] = KindManager(ConceptNode.Kind.EXPECTATION)  # type: ignore[assignment]

    class Meta:
        proxy = True
        verbose_name = _("L4 expectation")
        verbose_name_plural = _("L4 expectations")


class Lesson(ConceptNode):
    """A standing wish of the owner, in their own words: what to do, and when. Its evidence is a message from the owner;
    a wish written on the page has none."""

    objects: ClassVar[KindManager] = KindManager(ConceptNode.Kind.LESSON)  # type: ignore[assignment]

    class Meta:
        proxy = True
        verbose_name = _("L4 lesson")
        verbose_name_plural = _("L4 lessons")


class Filling(models.Model):
    """A source of L4: the parent was concluded from the child, a node of the same persona.

    `orphaned`: the child was forgotten and the parent kept for its other sources. Such a row has no child.
    """

    parent = models.ForeignKey(ConceptNode, models.CASCADE, related_name="filling", verbose_name=_("parent"))
    child = models.ForeignKey(
        ConceptNode, models.CASCADE, null=True, blank=True, related_name="fills", verbose_name=_("child")
    )
    orphaned = models.BooleanField(_("orphaned"), default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["parent", "child"], name="filling_once"),
            models.CheckConstraint(condition=~models.Q(parent=models.F("child")), name="filling_not_itself"),
            models.CheckConstraint(
                condition=models.Q(child__isnull=False) | models.Q(orphaned=True), name="filling_has_a_child"
            ),
        ]

    def __str__(self) -> str:
        return f"filling {self.pk}"
