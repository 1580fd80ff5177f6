from memory.models.consolidation import Extraction, ModelReply, ReflectionRun
from memory.models.embedding_model import EmbeddingModel, Reembedding, StagedVector
from memory.models.entity import Alias, Entity, Mention, MergeProposal, Photo
from memory.models.event import Event, Evidence, Fact
from memory.models.import_job import ImportChunk, ImportJob, ImportPiece
from memory.models.import_run import ImportRun
from memory.models.node import ConceptNode, NodeText, NodeVector
from memory.models.receipt import Receipt
from memory.models.slow_cycle import Question, QuestionGround, SlowCycle, SlowCycleRun
from memory.models.thought import Expectation, Filling, Intention, Lesson, Thought
from memory.models.thread import Thread, ThreadMember
from memory.models.tombstone import Tombstone
from memory.models.version import NodeVersion

__all__ = [
    "Alias",
    "ConceptNode",
    "EmbeddingModel",
    "Entity",
    "Event",
    "Evidence",
    "Expectation",
    "Extraction",
    "Fact",
    "Filling",
    "ImportChunk",
    "ImportJob",
    "ImportPiece",
    "ImportRun",
    "Intention",
    "Lesson",
    "Mention",
    "MergeProposal",
    "ModelReply",
    "NodeText",
    "NodeVector",
    "NodeVersion",
    "Photo",
    "Question",
    "QuestionGround",
    "Receipt",
    "Reembedding",
    "ReflectionRun",
    "SlowCycle",
    "SlowCycleRun",
    "StagedVector",
    "Thought",
    "Thread",
    "ThreadMember",
    "Tombstone",
]
