"""A year of a companion, in English and Chinese, as an archive: what pages are tested with and pictured from.

Days are counted back from today, so that no picture grows old.
"""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from tests.installation import Installation

PERSONAS = {
    "en": {
        "name": "Mira",
        "user_name": "Ana",
        "timezone": "Europe/Lisbon",
        "blocks": {
            "persona": "Mira grew up by the sea. She is calm and curious, and remembers small things.",
            "user": "Ana is a librarian in Lisbon. She swims before work.",
            "style": "Short and warm; a question now and then.",
        },
    },
    "zh": {
        "name": "米拉",
        "user_name": "安娜",
        "timezone": "Asia/Shanghai",
        "blocks": {
            "persona": "米拉在海边长大，安静、好奇，记得住小事。",
            "user": "安娜是上海的图书管理员，上班前会去游泳。",
            "style": "简短、温暖，偶尔问一句。",
        },
    },
}
# kind, (en, zh) name, (en, zh) relation, other names
ENTITIES: dict[str, tuple[str, tuple[str, str], tuple[str, str], list[str]]] = {
    "rosa": ("person", ("Rosa", "小雨"), ("sister", "妹妹"), ["Rosita"]),
    "ruth": ("person", ("Ruth", "陈露"), ("friend", "朋友"), []),
    "ruthie": ("person", ("Ruthie", "露露"), ("", ""), []),
    "tom": ("person", ("Tom", "小王"), ("colleague", "同事"), []),
    "mum": ("person", ("Helena", "王芳"), ("mother", "妈妈"), ["Mum"]),
    "jonas": ("person", ("Jonas", "大刘"), ("partner", "男朋友"), []),
    "ines": ("person", ("Inês", "周老师"), ("boss", "领导"), []),
    "snowball": ("pet", ("Snowball", "小黑"), ("cat", "猫"), []),
    "biscuit": ("pet", ("Biscuit", "豆豆"), ("dog", "狗"), []),
    "lisbon": ("place", ("Lisbon", "上海"), ("", ""), []),
    "porto": ("place", ("Porto", "杭州"), ("", ""), []),
    "library": ("org", ("City Library", "市图书馆"), ("", ""), []),
}
# days ago, impact, English, Chinese, feelings, who is mentioned
EVENTS: list[tuple[int, int, str, str, str, str]] = [
    (
        355,
        -8,
        "Ana's dog Biscuit died; she misses him terribly.",
        "安娜的狗豆豆走了，她非常想念它。",
        "grief",
        "biscuit",
    ),
    (349, -5, "Ana cleared away Biscuit's basket.", "安娜收起了豆豆的窝。", "grief", "biscuit"),
    (340, 3, "Ana walked along the river with Ruth.", "安娜和陈露沿着江边散步。", "calm", "ruth"),
    (331, 4, "Ana applied for the job at the City Library.", "安娜申请了市图书馆的工作。", "hope", "library"),
    (322, -3, "Ana slept badly for a week.", "安娜连续一周没睡好。", "tired", ""),
    (315, 7, "Ana got the job at the City Library.", "安娜被市图书馆录用了。", "joy", "library"),
    (301, 2, "Tom showed Ana the stacks under the library.", "小王带安娜看了地下书库。", "curious", "tom"),
    (296, 5, "Ana swam a kilometre for the first time.", "安娜第一次游了一公里。", "pride", ""),
    (288, 6, "Ana adopted a white cat named Snowball.", "安娜领养了一只白猫，叫小黑。", "joy", "snowball"),
    (285, 2, "Snowball jumped on Ana's face at midnight.", "小黑半夜跳到安娜脸上。", "amused", "snowball"),
    (274, -4, "Ana quarrelled with Rosa about the flat.", "安娜和小雨为房子吵了一架。", "anger", "rosa"),
    (269, 5, "Ana and Rosa made up over soup.", "安娜和小雨喝着汤和好了。", "relief", "rosa"),
    (258, 4, "Ana met Jonas at a concert.", "安娜在音乐会上认识了大刘。", "joy", "jonas"),
    (251, 3, "Jonas cooked for Ana.", "大刘给安娜做了饭。", "warm", "jonas"),
    (240, 8, "Ana and Jonas are together now.", "安娜和大刘在一起了。", "love", "jonas"),
    (229, -6, "Ana's mother Helena went to hospital.", "安娜的妈妈王芳住院了。", "fear", "mum"),
    (226, -5, "Ana waited in the ward all night.", "安娜在病房守了一夜。", "fear", "mum"),
    (221, 6, "Helena is home again and well.", "王芳出院了，一切都好。", "relief", "mum"),
    (214, 0, "Ana changed her train ticket to Friday.", "安娜把车票改到了星期五。", "", ""),
    (203, 5, "Ana spent three days in Porto with Jonas.", "安娜和大刘在杭州住了三天。", "joy", "porto jonas"),
    (196, 3, "Ana found an old map of Porto in the stacks.", "安娜在书库里找到一张杭州旧地图。", "curious", "porto"),
    (187, -2, "Ana's bicycle was stolen.", "安娜的自行车被偷了。", "anger", ""),
    (180, 4, "Tom lent Ana his bicycle.", "小王把自行车借给了安娜。", "grateful", "tom"),
    (171, 6, "Ana read to children for the first time.", "安娜第一次给孩子们读书。", "pride", "library"),
    (160, -7, "Inês told Ana that the branch may close.", "周老师告诉安娜分馆可能要关。", "fear", "ines library"),
    (157, -4, "Ana could not stop thinking about the branch.", "安娜一直在想分馆的事。", "worry", "library"),
    (149, 3, "Ana and Tom wrote a petition.", "安娜和小王写了请愿信。", "hope", "tom"),
    (138, 9, "The branch stays open.", "分馆不关了。", "joy relief", "library"),
    (131, 5, "Ana danced at Ruth's birthday.", "安娜在陈露的生日会上跳了舞。", "joy", "ruth"),
    (120, 2, "Ana bought a blue raincoat.", "安娜买了件蓝色雨衣。", "", ""),
    (112, -3, "Snowball was ill for two days.", "小黑病了两天。", "worry", "snowball"),
    (109, 4, "Snowball eats again.", "小黑又肯吃东西了。", "relief", "snowball"),
    (98, 6, "Ana swam in the open sea with Rosa.", "安娜和小雨在海里游了泳。", "joy", "rosa"),
    (90, 3, "Ana planted tomatoes on the balcony.", "安娜在阳台种了番茄。", "calm", ""),
    (81, -2, "Ana argued with Jonas about moving.", "安娜和大刘为搬家争了几句。", "worry", "jonas"),
    (75, 5, "Ana and Jonas decided to move together.", "安娜和大刘决定住到一起。", "hope", "jonas"),
    (66, 4, "Ana and Ruth cooked for twelve people.", "安娜和陈露做了十二个人的饭。", "joy", "ruth"),
    (57, 0, "Ana renewed her passport.", "安娜换了新护照。", "", ""),
    (49, -5, "Helena fell on the stairs; nothing is broken.", "王芳在楼梯上摔了，没骨折。", "fear", "mum"),
    (44, 3, "Ana called Helena every evening.", "安娜每晚都给王芳打电话。", "warm", "mum"),
    (36, 6, "Ana and Jonas found a flat with a lemon tree.", "安娜和大刘找到一间有柠檬树的房子。", "joy", "jonas"),
    (29, 2, "Ruthie sent Ana a postcard.", "露露给安娜寄了张明信片。", "warm", "ruthie"),
    (22, 4, "Ana gave a talk about old maps.", "安娜做了一次旧地图讲座。", "pride", ""),
    (15, 7, "Ana moved in with Jonas and Snowball.", "安娜和大刘、小黑搬进了新家。", "joy", "jonas snowball"),
    (9, -1, "Ana misses the view of her old flat.", "安娜想念旧屋的窗景。", "wistful", ""),
    (4, 5, "Rosa is coming to see the new flat in Lisbon.", "小雨要来上海看新家。", "joy", "rosa lisbon"),
    (1, 3, "Ana picked the first lemon.", "安娜摘下第一颗柠檬。", "calm", ""),
]
FACTS: list[tuple[str, str, str, str]] = [
    ("about", "Ana is called Annie by her grandmother alone.", "只有外婆叫安娜“娜娜”。", ""),
    ("work", "Ana works at the City Library.", "安娜在市图书馆工作。", "library"),
    ("health", "Ana is allergic to peanuts.", "安娜对花生过敏。", ""),
    ("likes", "Ana loves lemon cake and dislikes coffee.", "安娜爱吃柠檬蛋糕，不喜欢咖啡。", ""),
    ("home", "Ana lives in Lisbon with Jonas.", "安娜和大刘住在上海。", "lisbon jonas"),
    ("people", "Rosa is a nurse.", "小雨是护士。", "rosa"),
]
OPEN: list[tuple[str, str, str, str, str]] = [
    ("intention", "persona", "Mira will ask how Rosa's visit went.", "米拉要问小雨来得怎么样。", "rosa"),
    ("expectation", "user", "Ana will bring Helena to the doctor next week.", "安娜下周要带王芳看医生。", "mum"),
    ("expectation", "other", "Ruth will return the tent.", "陈露会把帐篷还回来。", "ruth"),
    ("thought", "user", "Water calms Ana when much is uncertain.", "事情不定的时候，水让安娜平静。", ""),
]
WISHES = [
    ("feeling", ("sad", "难过"), "When I am sad, just listen.", "我难过的时候，听我说就好。"),
    ("always", ("", ""), "Don't end every reply with a question.", "不要每次都用提问结尾。"),
]
# the story lines: (en, zh) title, state, events by their place
LINES: list[tuple[tuple[str, str], str, list[int]]] = [
    (("The library branch", "分馆的事"), "ended", [24, 25, 26, 27]),
    (("Helena in hospital", "妈妈住院"), "ended", [15, 16, 17]),
    (("A flat with Jonas", "和大刘的新家"), "open", [34, 35, 40, 43, 44]),
]
FEELINGS_ZH = {
    **{"grief": "悲伤", "calm": "平静", "hope": "希望", "tired": "疲惫", "joy": "快乐", "curious": "好奇"},
    **{"pride": "自豪", "amused": "好笑", "anger": "生气", "relief": "松了口气", "warm": "温暖", "love": "爱"},
    **{"fear": "害怕", "grateful": "感激", "worry": "担心", "wistful": "怅然"},
}
REPLY = ("I am glad you told me. How did it feel?", "谢谢你告诉我。那时候你感觉怎么样？")


def write_archive(path: Path, language: str, today: date) -> Path:
    """The archive of a year, as a file for `import_archive`."""
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records(language, today)))
    return path


def records(language: str, today: date) -> Iterator[dict[str, Any]]:
    """The records of a year: a session for each event, so that each has its evidence."""
    which = 0 if language == "en" else 1
    mentioned: dict[str, list[str]] = {key: [] for key in ENTITIES}

    def node(key: str, kind: str, text: str, at: datetime, named: str = "", **fields: Any) -> dict[str, Any]:
        for entity in named.split():
            mentioned[entity].append(key)
        at_text = at.isoformat()
        return {"type": "node", "id": key, "kind": kind, "description": text, "created_at": at_text} | fields

    yield {"type": "header", "format": "echovessel-archive", "version": 1}
    yield {"type": "persona", "id": f"persona-{language}", "language": language, **PERSONAS[language]}
    for number, (days_ago, impact, *texts, feelings, named) in enumerate(EVENTS):
        at = datetime.combine(today - timedelta(days_ago), time(18, 30), UTC)
        session, text = f"s{number}", texts[which]
        yield {
            "type": "session", "id": session, "summary": text, "close_reason": "idle",
            "started_at": at.isoformat(), "closed_at": (at + timedelta(minutes=30)).isoformat(),
        }  # fmt: skip
        for role, content in (("user", text), ("persona", REPLY[which])):
            written_at = at + timedelta(seconds=20 * (role == "persona"))
            yield {
                "type": "message", "id": f"{session}-{role}", "session": session, "role": role, "content": content,
                "created_at": written_at.isoformat(),
            }  # fmt: skip
        yield node(
            f"n{number}", "event", text, at + timedelta(minutes=31), named,
            session=session, messages=[f"{session}-user"], evidence=[{"message": f"{session}-user", "quote": text}],
            emotional_impact=impact, source="extraction",
            emotion_tags=[FEELINGS_ZH[name] if which else name for name in feelings.split()],
            event_time={"start": at.date().isoformat()}, pinned=number == 14,
        )  # fmt: skip
    rested = datetime.combine(today - timedelta(days=3), time(9), UTC)
    for number, (domain, *texts, named) in enumerate(FACTS):
        yield node(f"f{number}", "fact", texts[which], rested, named, domain=domain, source="extraction")
    for number, (kind, subject, *texts, named) in enumerate(OPEN):
        yield node(
            f"o{number}", kind, texts[which], rested, named, subject=subject, source="slow_cycle", filling=["n0", "n45"]
        )
    for number, (scope, condition, *texts) in enumerate(WISHES):
        yield node(
            f"w{number}", "lesson", texts[which], rested, scope=scope, condition=condition[which], source="person"
        )
    yield node("old", "fact", ("Ana lives alone.", "安娜一个人住。")[which], rested, domain="home", superseded_by="f4")
    yield node("hidden", "event", ("Ana burnt the rice.", "安娜把饭烧糊了。")[which], rested, status="hidden")
    for key, (kind, names, relations, others) in ENTITIES.items():
        yield {
            "type": "entity", "id": key, "kind": kind, "name": names[which], "relation": relations[which],
            "aliases": others if which == 0 else [], "nodes": mentioned[key],
        }  # fmt: skip
    for number, (titles, state, events) in enumerate(LINES):
        yield {
            "type": "thread", "id": f"line{number}", "title": titles[which], "state": state,
            "nodes": [f"n{event}" for event in events], "created_at": rested.isoformat(),
        }  # fmt: skip
    yield {
        "type": "proposal", "id": "p1", "a": "ruth", "b": "ruthie", "score": 0.74, "reasons": ["familiar_name"],
        "created_at": rested.isoformat(),
    }  # fmt: skip
    yield {
        "type": "draft", "id": "d1", "label": "user", "created_at": rested.isoformat(),
        "text": ("Ana lives with Jonas and a white cat.", "安娜和大刘、一只白猫住在一起。")[which],
    }  # fmt: skip
    for days_ago, mood, energy in ((40, "worried", 3), (15, "glad", 8), (2, "content", 6)):
        at = datetime.combine(today - timedelta(days_ago), time(20), UTC)
        yield {
            "type": "mood", "id": f"mood{days_ago}", "mood": mood if which == 0 else "平静", "energy": energy,
            "at": at.isoformat(),
        }  # fmt: skip


SETTLE = """
import datetime, json, random
from django.contrib.auth.models import User
from django.utils import timezone
from chat.models import CrisisFlag, Message
from echovessel.llm.models import LLMCall
from memory.archive import import_archive
from memory.models import ConceptNode
from persona.models import Persona
now, chance = timezone.now(), random.Random(1)
ana = User.objects.filter(username="ana").first() or User.objects.create_superuser(
    "ana", password="a long word for ana")
keys = {{}}
for language, path in {files!r}.items():
    with open(path, "rb") as file:
        keys[language] = str(import_archive(file, ana).persona.uuid)
mira = Persona.objects.get(uuid=keys["en"])
LLMCall.objects.bulk_create(
    LLMCall(owner=ana, persona_uuid=mira.uuid, purpose=purpose, provider="openai", model="a-model", tokens_in=2_000,
            tokens_out=150, cost="0.0021", latency_ms=chance.randint(600, 2_500), outcome=outcome,
            at=now - datetime.timedelta(days=day, hours=3))
    for day in range(28) for purpose, outcome in (("chat", "ok"), ("extraction", "ok" if day % 9 else "timeout"))
)
CrisisFlag.objects.create(message=Message.objects.filter(persona=mira).order_by("created_at").first(),
                          by_detector=True, raised_at=now)
event, person = ConceptNode.objects.filter(persona=mira, kind="event", pinned=True).get(), mira.entities.get(
    canonical_name="Rosa")
keys |= {{"event": str(event.uuid), "person": str(person.uuid), "event_pk": str(event.pk), "person_pk": str(person.pk),
         "line": str(mira.threads.get(state="open").uuid), "persona_pk": str(mira.pk),
         "session_pk": str(event.session_id)}}
print("KEYS", json.dumps(keys))
"""


def settle(house: Installation) -> dict[str, str]:
    """Give the installation an owner, Ana, who is staff as well, and a year with a companion in each language. Returns
    the companions' uuids by language, and the keys of an event, a person, a session and a persona."""
    today = datetime.now(UTC).date()
    files = {language: str(write_archive(house.folder / f"{language}.jsonl", language, today)) for language in PERSONAS}
    printed = house.run(SETTLE.format(files=files))
    keys: dict[str, str] = json.loads(printed.split("KEYS ")[1])
    return keys
