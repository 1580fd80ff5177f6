"""Resolving names to entities: by name, by similarity, or by a question to the owner."""

from collections.abc import Callable
from typing import Any

import pytest

from echovessel.embeddings import embedding
from echovessel.language.person_names import is_name, normalize_name, occurs
from echovessel.outbox.models import OutboxEvent
from memory.entities import merge
from memory.entities.comparison import candidates_for
from memory.entities.resolve import MentionedName, ResolvedName, learn_aliases, resolve
from memory.entities.similarity import Profile
from memory.models import Alias, ConceptNode, Entity, Mention, MergeProposal
from persona.models import Persona
from tests.memory.sessions import NOW
from tests.table import each_row


def node(persona: Persona, description: str, **values: Any) -> ConceptNode:
    return ConceptNode.objects.create(
        persona=persona, kind="event", description=description, source="extraction", created_at=NOW, **values
    )


def meet(persona: Persona, *names: str, kind: str = "person", **values: Any) -> Any:
    return resolve(persona, MentionedName(names, kind, [node(persona, f"Ana met {names[0]}.", **values)]))


@each_row(
    "same",
    [
        ["Scott Huang", "scott huang", "SCOTT  HUANG", "Ｓｃｏｔｔ Huang", "Dr. Scott Huang", "Mr Scott-Huang"],
        ["黄逸扬", "黄 逸扬", "黄逸扬老师", "黄逸扬先生"],
        ["O'Brien", "O’Brien", "OBrien"],
    ],
)
def test_spelling_and_titles_do_not_matter(same: list[str]) -> None:
    assert len({normalize_name(name) for name in same}) == 1


@each_row(
    "name",
    [
        "",
        " ",
        ".",
        "she",
        "她",
        "妈妈",
        "the user",
        "黑",
        "my sister",
        "Her Boss",
        "the dog",
        "我妹妹",
        "我的男朋友",
        "他老板",
        "我",
    ],
)
def test_pronouns_and_roles_are_no_names(name: str) -> None:
    assert not is_name(name)


@each_row("name", ["Anna", "my Bob", "The Beatles", "Theo", "Heri", "我妹妹小云", "李娜", "Mia"])
def test_a_name_may_begin_like_a_role(name: str) -> None:
    assert is_name(name)


def test_two_sisters_stay_two(mira: Persona) -> None:
    anna, bea = (meet(mira, name, "my sister", "我妹妹").entity for name in ("Anna", "Bea"))
    assert anna != bea
    assert list(anna.aliases.values_list("text", flat=True)) == ["Anna"]
    assert not MergeProposal.objects.exists()


def test_a_title_alone_makes_no_two_people_one() -> None:
    assert normalize_name("张老师") != normalize_name("张医生")


@each_row(
    ("name", "text", "there"),
    [
        ("Ann", "Anna came", False),
        ("Ann", "She saw Ann.", True),
        ("ann", "She saw Ann's dog.", True),
        ("Mary Ann", "mary  ann", True),
        ("小黑", "她的猫小黑很调皮", True),
        ("Scott", "和Scott吃饭", True),
        ("C++", "He likes C++ a lot", True),
        ("", "anything", False),
    ],
)
def test_a_name_occurs_literally_or_not_at_all(name: str, text: str, there: bool) -> None:
    assert occurs(name, text) is there


def test_a_new_name_is_somebody_new(mira: Persona) -> None:
    resolved = meet(mira, "Scott", "Scotty")
    assert (resolved.reason, resolved.entity.status) == ("new", "confirmed")
    assert list(resolved.entity.aliases.values_list("text", flat=True)) == ["Scott", "Scotty"]
    assert Mention.objects.get().entity == resolved.entity
    assert OutboxEvent.objects.get().data == {
        "entity_id": str(resolved.entity.uuid),
        "canonical_name": "Scott",
        "kind": "person",
        "merge_status": "new",
    }


def test_punctuation_is_not_learned_as_a_name(mira: Persona) -> None:
    entity = meet(mira, "Scott").entity
    learn_aliases(entity, ["…", "Scott Huang", "SCOTT"])
    assert list(entity.aliases.values_list("text", flat=True)) == ["Scott", "Scott Huang"]


def test_a_known_name_is_the_one_who_bears_it_and_teaches_new_ones(mira: Persona) -> None:
    first = meet(mira, "Scott")
    again = meet(mira, "Mr. SCOTT", "Scott Huang", kind="other")
    assert (again.reason, again.entity) == ("alias_matched", first.entity)
    assert meet(mira, "Scott Huang").entity == first.entity
    assert Entity.objects.count() == 1


def test_a_known_kind_replaces_other(mira: Persona) -> None:
    first = meet(mira, "Milo", kind="other").entity
    assert meet(mira, "Milo", kind="pet").entity == first
    assert Entity.objects.get().kind == "pet"
    meet(mira, "Milo", kind="other")
    assert Entity.objects.get().kind == "pet"
    assert OutboxEvent.objects.order_by("id")[1].data["kind"] == "pet"


def test_another_kind_is_somebody_else(mira: Persona) -> None:
    assert meet(mira, "Paris").entity != meet(mira, "Paris", kind="place").entity


def test_where_several_bear_the_name_people_are_asked_once(mira: Persona) -> None:
    scotts = [Entity.objects.create(persona=mira, canonical_name="Scott", kind="person") for _ in range(2)]
    for scott in scotts:
        scott.aliases.create(persona=mira, text="Scott", normalized="scott")
    resolved = meet(mira, "Scott")
    assert (resolved.reason, resolved.entity.status) == ("uncertain", "uncertain")
    assert {(proposal.a_id, proposal.b_id) for proposal in MergeProposal.objects.all()} == {
        (s.pk, resolved.entity.pk) for s in scotts
    }
    assert not OutboxEvent.objects.exists()
    assert meet(mira, "Scott").entity == resolved.entity
    assert MergeProposal.objects.count() == 2


def test_an_alias_that_somebody_else_bears_is_a_question_and_no_merge(mira: Persona) -> None:
    scott, tom = meet(mira, "Scott").entity, meet(mira, "Tom").entity
    again = meet(mira, "Tom", "Scott", "Tommy")
    assert (again.reason, again.entity) == ("alias_matched", tom)
    assert list(tom.aliases.values_list("text", flat=True)) == ["Tom"]
    proposal = MergeProposal.objects.get()
    assert (proposal.a, proposal.b, proposal.reasons) == (scott, tom, ["shared_alias"])
    MergeProposal.objects.update(status="kept_apart")
    meet(mira, "Tom", "Scott")
    assert MergeProposal.objects.get().status == "kept_apart"


def test_who_is_in_no_memory_is_not_stored(mira: Persona) -> None:
    memory = node(mira, "Ana met a friend.")
    assert resolve(mira, MentionedName(["Scott"], "person", [memory])) is None
    assert resolve(mira, MentionedName(["Scott"], "person", [])) is None
    assert meet(mira, "Scott", status="quarantined") is None
    assert not Entity.objects.exists()


def test_owner_and_persona_are_no_entities(mira: Persona) -> None:
    assert meet(mira, "Ana") is None
    assert meet(mira, "Mira") is None
    assert meet(mira, "Scott", "Ana").entity.aliases.count() == 1


def test_personas_share_no_entities(mira: Persona, otto: Persona) -> None:
    assert meet(mira, "Scott").entity != meet(otto, "Scott").entity


def test_a_merged_entity_is_not_found_by_name(mira: Persona) -> None:
    gone = meet(mira, "Scott").entity
    Entity.objects.filter(pk=gone.pk).update(status="merged")
    assert meet(mira, "Scott").entity != gone


# --- likeness -------------------------------------------------------------------------------------------------------
def create_profile(*names: str, kind: str = "person", company: tuple[str, ...] = (), text: str) -> Profile:
    return Profile(names, kind, [text], embedding.embed([text]), frozenset(company))


def resolve_name(
    persona: Persona, remember: Callable[..., ConceptNode], *names: str, text: str, **values: Any
) -> ResolvedName:
    """Resolve a name as consolidation does: compare first, then resolve."""
    profile = create_profile(
        *names, text=text, **{key: values.pop(key) for key in ("kind", "company") if key in values}
    )
    circle = candidates_for(persona, [profile])
    mention = MentionedName(names, profile.kind, [remember(persona, text)], profile, **values)
    resolved = resolve(persona, mention, circle)
    assert resolved is not None
    return resolved


def test_a_short_form_in_like_memories_is_the_same_and_is_learned(
    mira: Persona, remember: Callable[..., ConceptNode]
) -> None:
    full = resolve_name(mira, remember, "李小云", text="Ana的妹妹李小云在杭州读大学，学法律。").entity
    again = resolve_name(mira, remember, "小云", text="Ana的妹妹小云在杭州读大学。")
    assert (again.reason, again.entity) == ("similar", full)
    assert list(full.aliases.values_list("text", flat=True)) == ["李小云", "小云"]
    assert OutboxEvent.objects.order_by("-id")[0].data["merge_status"] == "similar"
    assert resolve_name(mira, remember, "小云", text="小云打来电话。").reason == "alias_matched"


def test_a_transliteration_is_a_question_and_never_a_merge(mira: Persona, remember: Callable[..., ConceptNode]) -> None:
    han = resolve_name(mira, remember, "黄逸扬", text="黄逸扬是Ana的同事，周四一起打羽毛球。").entity
    latin = resolve_name(mira, remember, "Yiyang", text="Yiyang是Ana的同事，周四一起打羽毛球。")
    assert (latin.reason, latin.entity.status) == ("uncertain", "uncertain")
    proposal = MergeProposal.objects.get()
    assert (proposal.a, proposal.b, proposal.status) == (han, latin.entity, "open")
    assert "transliteration" in proposal.reasons
    assert proposal.score == 1.0
    assert resolve_name(mira, remember, "Yiyang", text="Yiyang called.").entity == latin.entity
    assert MergeProposal.objects.count() == 1


@pytest.mark.parametrize(("first", "second"), [("Jon", "John"), ("Katherine", "Catherine")])
def test_names_that_sound_alike_are_a_question_whatever_is_remembered(
    mira: Persona, remember: Callable[..., ConceptNode], first: str, second: str
) -> None:
    resolve_name(mira, remember, first, text=f"{first} taught Ana to sail.")
    assert resolve_name(mira, remember, second, text=f"{second} likes cake.").entity.status == "uncertain"
    assert MergeProposal.objects.get().reasons == ["familiar_name", "similar_spelling"]


def test_two_sisters_in_like_memories_are_no_question(mira: Persona, remember: Callable[..., ConceptNode]) -> None:
    resolve_name(mira, remember, "Anna", text="Ana's sister Anna lives in Lyon.")
    assert resolve_name(mira, remember, "Bea", text="Ana's sister Bea lives in Lyon.").reason == "new"
    assert not MergeProposal.objects.exists()


def test_one_name_raises_few_questions(mira: Persona, remember: Callable[..., ConceptNode]) -> None:
    for surname in ("Smith", "Huang", "Miller", "Novak", "Weber"):
        resolve_name(
            mira, remember, f"Scott {surname}", text=f"Scott {surname} works with Ana at the bank as a manager."
        )
    assert not MergeProposal.objects.exists()
    resolved = resolve_name(mira, remember, "Scott", text="Scott works with Ana at the bank as a manager.")
    assert resolved.entity.status == "uncertain"
    assert MergeProposal.objects.count() == 3


def test_whom_the_session_names_besides_is_not_taken_for_the_same_without_asking(
    mira: Persona, remember: Callable[..., ConceptNode]
) -> None:
    full = resolve_name(mira, remember, "李小云", text="Ana的妹妹李小云在杭州读大学，学法律。").entity
    short = resolve_name(mira, remember, "小云", text="Ana的妹妹小云在杭州读大学。", beside=[full])
    assert short.entity != full
    assert MergeProposal.objects.get().status == "open"


def test_of_several_bearers_the_one_whose_company_is_there_is_meant(
    mira: Persona, remember: Callable[..., ConceptNode]
) -> None:
    lawyer = resolve_name(mira, remember, "张伟", text="张伟是Ana的大学同学，和李梅在北京开律师事务所。").entity
    neighbour = resolve_name(mira, remember, "张伟", text="张伟是Ana楼下的邻居，养了很多花。", twins=[lawyer]).entity
    MergeProposal.objects.update(status="kept_apart")
    Entity.objects.filter(pk=neighbour.pk).update(status="confirmed")
    limei = resolve_name(mira, remember, "李梅", text="李梅是律师。").entity
    limei.mentions.create(node=lawyer.nodes.get())
    text = "张伟和李梅在北京开的律师事务所，是Ana大学同学里最早的。"
    assert resolve_name(mira, remember, "张伟", text=text, company=("李梅",)).entity == lawyer
    unknown = resolve_name(mira, remember, "张伟", text="张伟发来一张照片。")
    assert (unknown.reason, unknown.entity in (lawyer, neighbour)) == ("uncertain", False)
    assert resolve_name(mira, remember, "张伟", text="张伟又发来一张照片。").entity == unknown.entity


def test_a_twin_is_somebody_else_and_is_found_again(mira: Persona, remember: Callable[..., ConceptNode]) -> None:
    first = resolve_name(mira, remember, "Scott", text="Scott the baker called Ana.").entity
    second = resolve_name(mira, remember, "Scott", text="Scott the nurse wrote to Ana.", twins=[first])
    assert (second.reason, MergeProposal.objects.get().reasons) == ("uncertain", ["same_name"])
    again = resolve_name(mira, remember, "Scott", text="Scott the nurse wrote to Ana once more.", twins=[first])
    assert again.entity == second.entity
    assert resolve_name(mira, remember, "Scott", text="Scott sang.").entity == first


def test_who_cannot_be_both_is_asked_about_and_never_joined(
    mira: Persona, remember: Callable[..., ConceptNode]
) -> None:
    brother = resolve_name(mira, remember, "Tom", text="Ana's brother Tom sails.", relation="brother").entity
    # A relation that can change, or hold beside another one, means the same person.
    for relation in ("brother · nurse", "friend", "brother"):
        assert resolve_name(mira, remember, "Tom", text=f"Tom, {relation}.", relation=relation).entity == brother
    uncle = resolve_name(mira, remember, "Tom", text="Ana's uncle Tom died.", relation="uncle")
    assert (uncle.reason, uncle.entity.relation) == ("uncertain", "uncle")
    brother.refresh_from_db()
    assert brother.relation == "brother"
    [proposal] = MergeProposal.objects.all()
    assert (proposal.status, proposal.reasons) == ("open", ["same_name"])
    again = resolve_name(mira, remember, "Tom", text="Uncle Tom wrote.", relation="uncle")
    assert again.entity == uncle.entity
    assert MergeProposal.objects.count() == 1
    # The owner merges them all the same: then both relations are theirs.
    merge.merge(proposal, None, NOW)
    assert resolve_name(mira, remember, "Tom", text="Tom, the uncle.", relation="uncle").entity == brother
    assert MergeProposal.objects.count() == 1


def test_memories_that_may_not_be_recalled_say_nothing_of_anybody(
    mira: Persona, remember: Callable[..., ConceptNode]
) -> None:
    sister = resolve_name(mira, remember, "李小云", text="Ana的妹妹李小云在杭州读大学，学法律。").entity
    sister.nodes.update(status="hidden")
    profile = create_profile("小云", text="Ana的妹妹小云在杭州读大学。")
    assert candidates_for(mira, [profile]).profiles[sister.pk].texts == ()


def test_however_many_are_known_a_new_name_is_compared_with_few(
    mira: Persona, django_assert_max_num_queries: Any
) -> None:
    entities = Entity.objects.bulk_create(
        Entity(persona=mira, canonical_name=f"Scott {number}", kind="person") for number in range(300)
    )
    Alias.objects.bulk_create(
        Alias(entity=entity, persona=mira, text=entity.canonical_name, normalized=normalize_name(entity.canonical_name))
        for entity in entities
    )
    profile = create_profile("Scott", text="Scott sang.")
    with django_assert_max_num_queries(25):
        circle = candidates_for(mira, [profile])
    assert len(circle.profiles) <= 12
    memory = node(mira, "Noor sang.")
    with django_assert_max_num_queries(12):
        resolve(mira, MentionedName(["Noor"], "person", [memory], create_profile("Noor", text="Noor sang.")), circle)
