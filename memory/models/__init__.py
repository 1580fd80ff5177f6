from memory.models.consolidation import Extraction, ReflectionRun, UnreadableAnswer
from memory.models.entity import Alias, Entity, Mention, MergeProposal
from memory.models.event import Event, Evidence
from memory.models.node import ConceptNode, NodeText, NodeVector
from memory.models.thought import Expectation, Filling, Intention, Thought

__all__ = [
    "Alias",
    "ConceptNode",
    "Entity",
    "Event",
    "Evidence",
    "Expectation",
    "Extraction",
    "Filling",
    "Intention",
    "Mention",
    "MergeProposal",
    "NodeText",
    "NodeVector",
    "ReflectionRun",
    "Thought",
    "UnreadableAnswer",
]
