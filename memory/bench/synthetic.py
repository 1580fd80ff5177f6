"""A synthetic life: any number of memories and messages, always the same ones, in English and Chinese.

Every session has a topic. Half of the words of a message come from its topic and half from a vocabulary whose
frequencies follow Zipf's law. The vector of a topic is the real model's; that of a memory is near it. Left out:
meaning.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import accumulate

import numpy as np
from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction
from tqdm import tqdm

from chat import search
from chat.models import Message, Session
from echovessel.embeddings import embedding
from echovessel.llm.prompts import tokens
from memory.models import Alias, ConceptNode, Entity, Evidence, Mention
from memory.store import vectors
from persona.models import Persona
from persona.onboarding.creation import create_persona

TOPICS = 400
TOPIC_WORDS = 12
VOCABULARY = 20_000
MESSAGES_PER_SESSION = 24
NODES_PER_ENTITY = 50
DATED_SHARE = 0.5  # share of the memories with a known date
MENTION_SHARE = 0.3  # share of the memories that mention an entity
NOISE_LENGTH = 0.8  # length of the noise around a topic's vector: cosines of about 0.6 within a topic
QUOTE_CHARACTERS = 12  # characters of a message that a memory quotes
BATCH = 2_000
BEGINNING = datetime(2020, 1, 1, 8, tzinfo=UTC)
NOW = datetime(2026, 1, 1, 8, tzinfo=UTC)

_ENGLISH = """
garden violin harbour bicycle sister teacher hospital lantern kitchen letter mountain river market winter summer
painting coffee window blanket journey doctor neighbour festival recipe camera orchard ticket station marathon puppy
kitten wedding funeral exam office manager salary rent moving boxes guitar choir theatre novel poem island ferry
passport luggage desert storm umbrella candle birthday cake dinner noodles soup bakery library museum concert football
tennis swimming climbing fever medicine dentist surgery allergy sleep dream nightmare anger hope promise secret
"""
_ENGLISH_GLUE = "I we she the a my and but of to in with was is that it so had for on"
_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo za"
_CHINESE = """
花园 小提琴 港口 自行车 妹妹 老师 医院 灯笼 厨房 信件 高山 河流 市场 冬天 夏天 油画
咖啡 窗户 毯子 旅行 医生 邻居 节日 菜谱 相机 果园 车票 车站 马拉松 小狗 小猫 婚礼 葬礼
考试 办公室 经理 工资 房租 搬家 箱子 吉他 合唱 剧院 小说 诗歌 海岛 渡轮 护照 行李 沙漠
暴雨 雨伞 蜡烛 生日 蛋糕 晚饭 面条 汤羹 面包
图书馆 博物馆 音乐会 足球 网球 游泳 攀岩 发烧 药片 牙医 手术 过敏 睡眠 梦境 噩梦 愤怒 希望 承诺 秘密
"""
_CHINESE_GLUE = "我 你 的 了 在 是 和 也 就 都 很 她 他 我们 有 不"
_ENGLISH_DAYS = ["yesterday", "last week", "last month", "in March 2024", "last summer", "in 2022"]
_CHINESE_DAYS = ["昨天", "上周", "上个月", "2024年3月", "去年夏天", "2022年"]
_CHARACTERS = [chr(code) for code in range(0x4E00, 0x4E00 + 3_000, 2)]


@dataclass(frozen=True)
class SyntheticLanguage:
    """A language: its words, most frequent first, and its function words."""

    words: Sequence[str]
    glue: Sequence[str]
    joint: str
    end: str
    question: str
    days: Sequence[str]

    @cached_property
    def cumulative_weights(self) -> list[float]:
        return list(accumulate(1 / (rank + 3) for rank in range(len(self.words))))


def _synthetic_languages() -> list[SyntheticLanguage]:
    dice = random.Random(7)
    english = ["".join(dice.choices(_SYLLABLES.split(), k=dice.choice((2, 3, 3, 4)))) for _ in range(VOCABULARY)]
    chinese = ["".join(dice.choices(_CHARACTERS, k=2)) for _ in range(VOCABULARY)]
    return [
        SyntheticLanguage(
            [*_ENGLISH.split(), *english], _ENGLISH_GLUE.split(), " ", ".", "What about {}?", _ENGLISH_DAYS
        ),
        SyntheticLanguage(
            [*_CHINESE.split(), *chinese], _CHINESE_GLUE.split(), "", "。", "{}怎么样了？", _CHINESE_DAYS
        ),
    ]


@dataclass
class Life:
    """Generates messages, memories and questions; always the same for the same `seed`."""

    seed: int
    languages: list[SyntheticLanguage] = field(default_factory=_synthetic_languages)

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        self.topics = [
            self.dice.choices(language.words, cum_weights=language.cumulative_weights, k=TOPIC_WORDS)
            for language in (self.languages[number % 2] for number in range(TOPICS))
        ]

    @cached_property
    def topic_vectors(self) -> "TopicVectors":
        return TopicVectors(self)

    def text(self, topic: int) -> str:
        """A message of four to eleven content words."""
        language = self.languages[topic % 2]
        words: list[str] = []
        for _ in range(self.dice.randint(2, 5)):
            words += self.dice.choices(language.glue, k=1)
            words += self.dice.choices(self.topics[topic], k=1)
            words += self.dice.choices(language.words, cum_weights=language.cumulative_weights, k=1)
        return language.joint.join(words) + language.end

    def message(self, session: Session, topic: int, place: int) -> Message:
        content = self.text(topic)
        at = session.started_at + timedelta(seconds=40 * place)
        return Message(
            session=session,
            persona_id=session.persona_id,
            role=Message.Role.PERSONA if place % 2 else Message.Role.USER,
            content=content,
            token_count=tokens(content),
            day=at.date(),
            created_at=at,
        )

    def node(self, persona: Persona, source: "SourceMessage") -> ConceptNode:
        """A memory of a message; every other one has a date."""
        at = BEGINNING + (NOW - BEGINNING) * self.dice.random()
        day = at.date() if self.dice.random() < DATED_SHARE else None
        return ConceptNode(
            persona=persona,
            kind=self.dice.choices(["event", "thought", "expectation"], [8, 2, 0.1])[0],
            description=self.text(source.topic),
            emotional_impact=self.dice.randint(-6, 8),
            relational_tags=["unresolved"] if self.dice.random() < 0.1 else [],
            session_id=source.session,
            source=ConceptNode.Source.EXTRACTION,
            event_time_start=day,
            event_time_end=day,
            created_at=at,
            content_hash=str(self.dice.getrandbits(64)),
            embedding_model=embedding.name(),
        )

    def question(self, *, dated: bool = False) -> list[str]:
        """Four messages of one topic, the last one a question; `dated` asks about certain days."""
        topic = self.dice.randrange(TOPICS)
        language = self.languages[topic % 2]
        words = self.dice.sample(self.topics[topic], k=2) + (self.dice.choices(language.days) if dated else [])
        return [*(self.text(topic) for _ in range(3)), language.question.format(language.joint.join(words))]

    def name(self, number: int) -> str:
        """The name of an entity, different for each number."""
        parts = [_SYLLABLES.split()[number // 20**place % 20] for place in range(3)]
        if number % 2:
            return "".join(parts).capitalize()
        return "小" + _CHARACTERS[number % len(_CHARACTERS)] + _CHARACTERS[number // len(_CHARACTERS)]


@dataclass(frozen=True)
class SourceMessage:
    """A message that a memory may rest on."""

    message: int
    session: int
    topic: int
    quote: str


@dataclass(frozen=True)
class Size:
    """The size of a persona's memory."""

    nodes: int
    messages: int


def write_life(
    owner: AbstractBaseUser, size: Size, *, seed: int = 1, life: Life | None = None, progress: bool = True
) -> Persona:
    """A persona of `owner` with a synthetic life in the database: that of `seed`, or the continuation of `life`."""
    life = life or Life(seed)
    persona = create_persona(owner, f"Mira {seed}", user_name="Ana")  # type: ignore[arg-type]
    messages = _store_sessions(persona, life, size.messages, progress)
    # Store `count` memories, each resting on a message of its topic, and the entities that some of them mention.
    count = size.nodes
    entities = Entity.objects.bulk_create(
        Entity(persona=persona, canonical_name=life.name(number), kind=Entity.Kind.PERSON)
        for number in range(max(1, count // NODES_PER_ENTITY))
    )
    names = [(entity, entity.canonical_name) for entity in entities]
    Alias.objects.bulk_create(
        Alias(persona=persona, entity=entity, text=name, normalized=name.casefold()) for entity, name in names
    )
    with tqdm(total=count, desc="memories", unit="", disable=not progress) as bar:
        for first in range(0, count, BATCH):
            sources = life.dice.choices(messages, k=min(BATCH, count - first))
            nodes = [life.node(persona, source) for source in sources]
            places = life.topic_vectors.vectors_near([source.topic for source in sources])
            with transaction.atomic():
                ConceptNode.objects.bulk_create(nodes)
                vectors.index(nodes, places)
                Evidence.objects.bulk_create(
                    Evidence(node=node, message_id=source.message, quote=source.quote, start=0, end=len(source.quote))
                    for node, source in zip(nodes, sources, strict=True)
                )
                mentioning_nodes = [node for node in nodes if life.dice.random() < MENTION_SHARE]
                Mention.objects.bulk_create(
                    Mention(node=node, entity=life.dice.choice(entities)) for node in mentioning_nodes
                )
            bar.update(len(nodes))
    return persona


def _store_sessions(persona: Persona, life: Life, count: int, progress: bool) -> list[SourceMessage]:
    """Store `count` messages in sessions."""
    session_count = max(1, count // MESSAGES_PER_SESSION)
    step = (NOW - BEGINNING) / (session_count + 1)
    source_messages: list[SourceMessage] = []
    with tqdm(total=count, desc="lines", unit="", disable=not progress) as bar:
        for first in range(0, session_count, BATCH // MESSAGES_PER_SESSION):
            numbers = range(first, min(session_count, first + BATCH // MESSAGES_PER_SESSION))
            with transaction.atomic():
                sessions = Session.objects.bulk_create(
                    Session(persona=persona, status=Session.Status.CLOSED, started_at=BEGINNING + number * step)
                    for number in numbers
                )
                topics = [life.dice.randrange(TOPICS) for _ in sessions]
                messages = [
                    life.message(session, topic, place)
                    for session, topic in zip(sessions, topics, strict=True)
                    for place in range(MESSAGES_PER_SESSION)
                ]
                Message.objects.bulk_create(messages)
                search.index(messages)
            topic_of = {session.pk: topic for session, topic in zip(sessions, topics, strict=True)}
            source_messages += [
                SourceMessage(
                    message.pk, message.session_id, topic_of[message.session_id], message.content[:QUOTE_CHARACTERS]
                )
                for message in messages
            ]
            bar.update(len(messages))
    return source_messages


class TopicVectors:
    """Vectors near those of the topics; a topic is embedded on first use."""

    def __init__(self, life: Life) -> None:
        self.life = life
        self.centres: dict[int, np.ndarray] = {}
        self.noise = np.random.default_rng(life.seed)

    def vectors_near(self, topics: Sequence[int]) -> np.ndarray:
        """One unit vector per topic: (n, d) float32."""
        new = [topic for topic in dict.fromkeys(topics) if topic not in self.centres]
        self.centres |= zip(new, embedding.embed([self.life.text(topic) for topic in new]), strict=True)
        noise = self.noise.standard_normal((len(topics), embedding.dimension()), dtype=np.float32)
        noise *= NOISE_LENGTH / np.linalg.norm(noise, axis=1, keepdims=True)
        places = np.stack([self.centres[topic] for topic in topics]) + noise
        return (places / np.linalg.norm(places, axis=1, keepdims=True)).astype(np.float32)
