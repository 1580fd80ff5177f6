from memory.models.consolidation import Extraction, ModelReply, ReflectionRun
from memory.models.embedding_model import EmbeddingModel, Reembedding, StagedVector
from memory.models.entity import Alias, Entity, Mention, MergeProposal
from memory.models.event import Event, Evidence
from memory.models.node import ConceptNode, NodeText, NodeVector
from memory.models.thought import Expectation, Filling, Intention, Thought
from memory.models.tombstone import Tombstone

__all__ = [
    "Alias",
    "ConceptNode",
    "EmbeddingModel",
    "Entity",
    "Event",
    "Evidence",
    "Expectation",
    "Extraction",
    "Filling",
    "Intention",
    "Mention",
    "MergeProposal",
    "ModelReply",
    "NodeText",
    "NodeVector",
    "Reembedding",
    "ReflectionRun",
    "StagedVector",
    "Thought",
    "Tombstone",
]
