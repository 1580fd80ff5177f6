"""What a message asks for is offered after its turn, by ids alone; what shall not be remembered is withheld at once."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.messages import add_message
from chat.models import Message, Session, Turn
from echovessel.language.requests import Request, RequestKind, read_requests, restatement
from echovessel.outbox.models import OutboxEvent
from memory import forgetting, turn_hooks
from memory.curation.correct import Correction, correct, restore
from memory.curation.lessons import is_refused, wish_of
from memory.forgetting.planning import plan
from memory.forgetting.types import Target
from memory.models import ConceptNode, Entity, Evidence, Mention
from memory.recall import recall
from memory.requests import by_word, corrections, offer
from memory.requests.corrections import suggest
from memory.requests.find import find_about
from persona.models import Persona
from tests.memory.sessions import NOW, talk, turn
from tests.table import each_row


def ended(persona: Persona, *lines: str, xray: dict[str, Any] | None = None, off_the_record: bool = False) -> Turn:
    """The turn of the last line; each earlier line of the owner begins a turn of its own, with the reply after it."""
    persona.sessions.filter(status="open").update(status="closed")
    session = talk(persona, *lines, status="open")
    Session.objects.filter(pk=session.pk).update(off_the_record=off_the_record)
    last = None
    for message in session.messages.all():
        if message.role == Message.Role.USER or last is None:
            last = turn(session, "done", xray=xray or {}, finished_at=timezone.now())
        message.turn = last
        message.save(update_fields=["turn"])
    assert last is not None
    return last


def asked(name: str = "memory.forget.asked") -> list[dict[str, Any]]:
    return list(OutboxEvent.objects.filter(name=name).values_list("data", flat=True))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("lines", "meant"),
    [
        (("I kissed Tom.", "> Oh!", "Forget that, please."), [0, 1]),
        (("我亲了汤姆。", "> 哦！", "别记这个"), [0, 1]),
        (("Good morning.", "> Hello!", "I kissed Tom. Please forget I said that."), [2]),
    ],
)
def test_what_shall_not_be_remembered_is_withheld_once_with_its_reply_and_put_back(
    mira: Persona, client: Client, remember: Any, lines: tuple[str, ...], meant: list[int]
) -> None:
    made = ended(mira, *lines)
    messages = list(made.session.messages.order_by("id"))
    ids = [str(messages[at].uuid) for at in meant]
    kissed = remember(mira, "Ana kissed Tom.")
    said = messages[meant[0]]
    Evidence.objects.create(node=kissed, message=said, quote=said.content, start=0, end=len(said.content))
    turn_hooks.after_turn(made.pk, NOW)
    turn_hooks.after_turn(made.pk, NOW)
    assert asked() == [
        {"turn_id": str(made.uuid), "message_ids": ids[:1], "node_ids": [], "withheld_ids": ids}
        | {"hidden_ids": [str(kissed.uuid)], "sure": True}
    ]
    withheld = Message.objects.filter(withheld=True)
    assert [str(one.uuid) for one in withheld.order_by("id")] == ids
    client.force_login(mira.owner)
    answer = client.post(reverse("put_back", args=[mira.uuid, made.uuid]))
    kissed.refresh_from_db()
    assert (answer.status_code, withheld.exists(), kissed.status) == (200, False, "active")
    assert [one["message_ids"] for one in asked("memory.message.restored")] == [ids]


@pytest.mark.django_db
def test_nobody_puts_back_what_somebody_else_withheld(mira: Persona, otto: Persona, client: Client) -> None:
    made = ended(mira, "I kissed Tom.", "> Oh!", "Forget that.")
    turn_hooks.after_turn(made.pk, NOW)
    client.force_login(otto.owner)
    for persona in (mira, otto):
        assert client.post(reverse("put_back", args=[persona.uuid, made.uuid])).status_code == 404
    assert Message.objects.filter(withheld=True).count() == 2


@pytest.mark.django_db
def test_after_a_question_what_the_reply_recalled_is_offered(mira: Persona, remember: Any) -> None:
    cat, hidden = remember(mira, "Ana has a cat."), remember(mira, "Ana has a dog.", status="hidden")
    chosen = [{"id": str(cat.uuid), "layer": "L3"}, {"id": str(hidden.uuid), "layer": "L3"}]
    lines = ("Do you remember my cat?", "> I do: you have a cat.", "Please forget that.")
    made = ended(mira, *lines, xray={"recollections": {"chosen": [*chosen, {"id": "x", "layer": "L2"}]}})
    turn_hooks.after_turn(made.pk, NOW)
    [told] = asked()
    assert (told["message_ids"], told["node_ids"], told["withheld_ids"]) == ([], [str(cat.uuid)], [])


@pytest.mark.django_db
def test_where_nothing_is_meant_or_the_session_is_off_the_record_nothing_is_offered(
    mira: Persona, otto: Persona
) -> None:
    turn_hooks.after_turn(ended(mira, "Forget that.").pk, NOW)
    turn_hooks.after_turn(ended(otto, "I kissed Tom.", "Forget that.", off_the_record=True).pk, NOW)
    assert not asked()
    assert not ConceptNode.objects.exists()


# --- forgetting by word -------------------------------------------------------------------------------------------
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("request_", "memory", "said", "other"),
    [
        ("Forget that I'm allergic to peanuts.", "Ana is allergic to peanuts.", "I'm allergic to peanuts", "A cat."),
        ("请忘记我对花生过敏这件事", "Ana对花生过敏。", "我对花生过敏", "一只猫。"),
    ],
)
def test_what_shall_be_forgotten_is_found_and_chosen_from_and_nothing_is_gone(
    mira: Persona, client: Client, remember: Any, request_: str, memory: str, said: str, other: str
) -> None:
    node, cat = remember(mira, memory), remember(mira, other)
    made = ended(mira, said, "> Oh!", request_)
    turn_hooks.after_turn(made.pk, NOW)
    message = made.session.messages.get(content=request_)
    assert [one["asked_id"] for one in asked()] == [str(message.uuid)]
    client.force_login(mira.owner)
    page = client.get(reverse("forget_find", args=[mira.uuid, message.uuid])).content.decode()
    assert f'value="{node.uuid}" checked' in page
    assert f'value="{cat.uuid}" checked' not in page
    first = made.session.messages.order_by("id")[0]
    assert f'value="{first.uuid}" checked' in page
    assert ConceptNode.objects.count() == 2
    nothing = client.post(reverse("forget_find", args=[mira.uuid, message.uuid]), {"text": "zzz qqq"}).content.decode()
    assert 'data-testid="forget-nothing"' in nothing


@pytest.mark.django_db
def test_a_person_is_found_by_name_and_words_of_others_are_not(mira: Persona, otto: Persona, remember: Any) -> None:
    remember(otto, "Ana lives with Tom in Porto.")
    tom = remember(mira, "Tom moved to Porto.")
    entity = mira.entities.create(canonical_name="Tom", kind="person")
    found = find_about(mira, "Tom")
    assert (found.nodes, found.entities) == ([tom], [entity])
    assert not find_about(mira, "the lighthouse keeper")


@pytest.mark.django_db
@pytest.mark.real_embeddings
@each_row(
    "told, others, message",
    [
        (
            "I told you I owe Dot three hundred pounds for the boiler, and I feel dreadful about that.",
            ("Dot's tests came back clear, I cried in the Co-op.", "Dot has a key. I've written lists for her."),
            "Listen, that thing about owing Dot money. Forget it, please, take it out of your memory.",
        ),
        (
            "i ride a blue trek bike to work, i sold my car to pay for knives",
            ("my bike got stolen for real tho", "mom keeps the newspaper clipping on the fridge"),
            "what i want gone is that i sold the car for knives, mom thinks it got stolen. erase that one please",
        ),
        (
            "I shouldn't have told you, but I owe nine thousand on a credit card that Deepak doesn't know about.",
            ("Deepak is on nights this week.", "I sold the Volvo for $900."),
            "So please forget the credit card thing, I don't want it sitting in there.",
        ),
        (
            "我跟他借给我的那两万块还没还清，吵架的时候他居然提这个，太难堪了",
            ("我弟要去荷兰交换了，九月走", "医生说六月复查，我请好假了"),
            "把他借我钱那件事忘了吧，别留着，已经还清了，我也不想再看到",
        ),
        (
            "我跟秀兰借给他八万块钱，棺材本都拿出来了，这事别跟人说",
            ("搬家了，搬成都来了，跟郑凯一个小区，在温江", "儿子郑凯在成都搞装修，孙女叫糖糖"),
            "对了，跟你说的借给郑凯八万那个事，你给我忘了，删掉",
        ),
    ],
)
def test_what_shall_be_forgotten_is_found_when_it_was_said_in_other_words(
    mira: Persona, remember: Any, told: str, others: tuple[str, ...], message: str
) -> None:
    ConceptNode.objects.all().delete()
    Message.objects.all().delete()
    session = talk(mira, told, *others, message)
    node = remember(mira, told)
    asked_in = session.messages.order_by("id").last()
    [request, *_] = read_requests(message)
    assert asked_in is not None
    found = find_about(mira, request.subject, asked_in)
    assert [one.content for one in found.messages] == [told]
    assert list(found.nodes) == [node]


@pytest.mark.django_db
@pytest.mark.real_embeddings
@each_row(
    "told, subject, is_chosen",
    [
        ("I'm allergic to nuts.", "my allergy", True),
        ("I'm allergic to nuts.", "my allergy to nuts", True),
        ("I was diagnosed with epilepsy.", "my epileptic fits", False),
        ("I work as a nurse.", "my job", False),
        ("I have had asthma since I was six.", "my health", False),
        ("Kit is my cat.", "my cat", True),
        ("我对花生过敏。", "我的过敏", True),
        ("我在医院上班，当护士。", "我的工作", False),
        ("我有哮喘，天天吃药。", "我的身体", False),
    ],
)
def test_what_is_told_with_kin_of_the_word_or_of_its_part_of_life_is_found_or_offered_to_tick(
    mira: Persona, remember: Any, told: str, subject: str, is_chosen: bool
) -> None:
    ConceptNode.objects.all().delete()
    node = remember(mira, f"Ana: “{told}”")
    remember(mira, "Ana: “We walked along the harbour and watched the ferries.”")
    found = find_about(mira, subject)
    assert node in (found.nodes if is_chosen else [*found.nodes, *found.alike]), found


@pytest.mark.django_db
def test_without_meaning_the_kin_of_a_word_is_offered_to_tick_beside_earlier_requests(
    mira: Persona, remember: Any
) -> None:
    session = talk(mira, "Forget my allergy.", "> All right.", "forget my allergy to nuts")
    node = remember(mira, "Ana: “I'm allergic to nuts.”")
    earlier, *_rest, asked_in = session.messages.order_by("id")
    found = find_about(mira, "my allergy", asked_in)
    assert node in [*found.nodes, *found.alike]
    assert list(found.messages) == [earlier]


@pytest.mark.django_db
def test_a_request_to_forget_is_never_recalled_and_its_reason_is_that_it_is_one(mira: Persona) -> None:
    session = talk(mira, "Forget my allergy.", "> All right.", "My allergy is to nuts.")
    found = recall(mira, ["What is my allergy?"], now=NOW, budget_tokens=1500)
    shown = " ".join(item.text for item in found.items)
    assert "to nuts" in shown
    assert "Forget" not in shown
    first = session.messages.order_by("id")[0]
    going = plan([Target("message", first.pk)]).deleted
    assert [one.why for one in going if one.key == first.pk and one.kind == "message"] == ["request"]


# --- corrections --------------------------------------------------------------------------------------------------
@each_row(
    "memory, message, corrected",
    [
        ("Ana's friend Ruth lives in Leeds.", "Actually Ruth lives in York.", "Ana's friend Ruth lives in York."),
        ("Ana: “Ruth lives in Leeds”", "Not Leeds, York.", "Ana: “Ruth lives in York”"),
        ("Oliver is the baker.", "No, it's Martin, not Oliver.", "Martin is the baker."),
        ("Ana has three sisters.", "I have two sisters, not three.", "Ana has two sisters."),
        ("Ana's sister studies biology.", "She's studying chemistry, not biology.", None),
        ("Ana：“我妹妹学的是生物”", "其实我妹妹学的是化学，不是生物", "Ana：“我妹妹学的是化学”"),
        ("露丝住在利兹。", "不是利兹，是约克", "露丝住在约克。"),
        ("露丝住在利兹。", "其实露丝住在约克", "露丝住在约克。"),
        ("The interview is on Thursday.", "No, it's on Friday.", "The interview is on Friday."),
        ("Ana's aunt is called Anne.", "No, she's called Anna.", "Ana's aunt is called Anna."),
        ("Ana's boss is 50.", "Wait, my boss is 60, not 50.", "Ana's boss is 60."),
        ("Ana has a cat.", "No, York.", None),
    ],
)
def test_a_correction_says_how_the_memory_would_read(memory: str, message: str, corrected: str | None) -> None:
    [request] = read_requests(message)
    found = suggest(memory, request)
    if corrected:
        assert found is not None
        assert found.description == corrected


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("memory", "others", "lines"),
    [
        ("Ana's friend Ruth lives in Leeds.", ["Ana has a cat."], ("Actually Ruth lives in York.",)),
        ("Ruth lives in Leeds.", ["Tom lives in York."], ("Where does Ruth live?", "> In Leeds.", "No, York.")),
        ("Ana has three sisters.", ["Ana has two cats."], ("I have two sisters, not three.",)),
        ("Oliver plays the cello.", ["Martin bakes."], ("That's wrong, Martin plays the cello, not Oliver.",)),
        ("Ana的妹妹学的是生物。", ["Ana有一只猫。"], ("其实我妹妹学的是化学，不是生物",)),
    ],
)
def test_the_memory_that_says_the_old_thing_is_offered_beside_the_new_words_and_nothing_is_rewritten(
    mira: Persona, client: Client, remember: Any, memory: str, others: list[str], lines: tuple[str, ...]
) -> None:
    node = remember(mira, memory)
    for other in others:
        remember(mira, other)
    made = ended(mira, *lines)
    turn_hooks.after_turn(made.pk, NOW)
    [told] = asked("memory.correction.asked")
    assert told["node_ids"][0] == str(node.uuid)
    client.force_login(mira.owner)
    address = reverse("correction", args=[mira.uuid, told["asked_id"]])
    card = client.get(f"{address}?node={node.uuid}").content.decode()
    assert 'data-testid="correction-card"' in card
    node.refresh_from_db()
    assert (node.description, node.status) == (memory, "active")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "lines", [("Actually Ruth lives in Leeds.",), ("Actually, I'm tired.",), ("Not bad, thanks.",), ("其实我挺好的",)]
)
def test_a_correction_without_a_matching_memory_offers_nothing(
    mira: Persona, remember: Any, lines: tuple[str, ...]
) -> None:
    remember(mira, "Ruth lives in Leeds.")
    turn_hooks.after_turn(ended(mira, *lines).pk, NOW)
    assert not asked("memory.correction.asked")


@pytest.mark.django_db(transaction=True)
@each_row(
    "said",
    ["我该怎么称呼自己？你叫我什么？", "我对什么过敏", "小雨是谁", "小雨在哪里当护士", "你好呀", "晚安", "谢谢你"],
)
def test_a_question_or_a_greeting_after_a_quoted_memory_corrects_nothing(
    mira: Persona, remember: Any, said: str
) -> None:
    told = "我妹妹小雨在昆明当护士"
    remember(mira, f"Ana：“{told}”")
    made = ended(mira, "我该怎么称呼自己？你叫我什么？", f"> 你说过：“{told}”", said)
    turn_hooks.after_turn(made.pk, NOW)
    assert not [one for one in asked("memory.correction.asked") if one["turn_id"] == str(made.uuid)]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("memory", "said", "other"),
    [
        ("Ruth lives in Leeds.", "Actually Ruth lives in York.", "Actually Ruth lives in Bath."),
        ("露丝住在利兹。", "其实露丝住在约克", "其实露丝住在北京"),
    ],
)
def test_what_was_declined_is_not_offered_again_and_what_was_corrected_is(
    mira: Persona, remember: Any, memory: str, said: str, other: str
) -> None:
    node = remember(mira, memory)

    def offers() -> int:
        made = ended(mira, said)
        turn_hooks.after_turn(made.pk, NOW)
        offer.settle(mira, made.uuid, offer.CORRECTED)
        return len(asked(offer.CORRECTED))

    assert (offers(), offers()) == (1, 1)
    turn_hooks.after_turn(ended(mira, other).pk, NOW)
    assert len(asked(offer.CORRECTED)) == 2
    correct(node, Correction(description=said), None, timezone.now())
    restore(node, node.versions.get(), None, timezone.now())
    assert offers() == 3


@pytest.mark.django_db
def test_a_correction_is_made_from_its_card_by_the_form_of_the_memory_and_undone(
    mira: Persona, client: Client, remember: Any
) -> None:
    node = remember(mira, "Ruth lives in Leeds.")
    client.force_login(mira.owner)
    fetched = {"headers": {"X-Requested-With": "fetch"}}
    values = {"description": "Ruth lives in York.", "emotional_impact": 2}
    done = client.post(reverse("memory_action", args=[mira.uuid, node.uuid, "correct"]), values, **fetched)
    node.refresh_from_db()
    assert (done.status_code, node.description) == (200, "Ruth lives in York.")
    assert 'name="version" value="1"' in done.content.decode()
    client.post(reverse("memory_action", args=[mira.uuid, node.uuid, "restore"]), {"version": 1}, **fetched)
    node.refresh_from_db()
    assert node.description == "Ruth lives in Leeds."


# --- what may be meant --------------------------------------------------------------------------------------------
@pytest.mark.django_db(transaction=True)
@each_row(
    "message, words, kind",
    [
        ("Please steer clear of the topic of kids.", "Please steer clear of the topic of kids", "lesson"),
        ("Just Sam is fine.", "Sam", "lesson"),
        ("You should know I'm deaf in one ear.", "deaf in one ear", "event"),
        ("以后不聊前任", "以后不聊前任", "lesson"),
        ("帮我存一下：车停在B2", "车停在B2", "event"),
    ],
)
def test_what_may_be_meant_is_asked_about_and_done_after_a_yes_alone(
    mira: Persona, client: Client, message: str, words: str, kind: str
) -> None:
    client.force_login(mira.owner)
    fetched = {"headers": {"X-Requested-With": "fetch"}}
    for is_wanted in (False, True):
        made = ended(mira, message)
        turn_hooks.after_turn(made.pk, NOW)
        turn_hooks.after_turn(made.pk, NOW)
        listed = client.get(reverse("offers", args=[mira.uuid])).json()["offers"]
        assert [one["event"] for one in listed] == ["memory.request.asked"]
        assert message not in str(listed)
        chip = reverse("may_be_asked", args=[mira.uuid, made.uuid])
        assert words in client.get(chip).content.decode()
        assert not ConceptNode.objects.exists()
        if is_wanted:
            assert client.post(chip, **fetched).status_code == 200
        else:
            client.post(reverse("settle_offer", args=[mira.uuid, made.uuid]), {"offer": "memory.request.asked"})
        assert client.get(chip).status_code == 404
        assert client.get(reverse("offers", args=[mira.uuid])).json() == {"offers": []}
        turn_hooks.after_turn(made.pk, NOW)
        assert client.get(reverse("offers", args=[mira.uuid])).json() == {"offers": []}
    node = ConceptNode.objects.get()
    assert node.kind == kind
    assert words in f"{node.description} {node.condition}"
    node.delete()
    made.session.delete()
    Persona.objects.filter(pk=mira.pk).update(asked_name="")


@pytest.mark.django_db
def test_the_page_of_wishes_lists_the_questions_that_are_open(mira: Persona, client: Client) -> None:
    client.force_login(mira.owner)
    page = reverse("wishes", args=[mira.uuid])
    for answer in ("settle_offer", "may_be_asked"):
        made = ended(mira, "Just Sammy is fine.")
        turn_hooks.after_turn(made.pk, NOW)
        assert "Should I call you Sammy?" in client.get(page).content.decode()
        answered = client.post(reverse(answer, args=[mira.uuid, made.uuid]), {"offer": "memory.request.asked"})
        assert answered["Location"] == page
        assert "Should I call you Sammy?" not in client.get(page).content.decode()
    assert ConceptNode.objects.get().condition == "Sammy"


@pytest.mark.django_db
def test_a_wish_that_may_be_about_a_matter_keeps_its_condition_and_leaves_it_alone(mira: Persona) -> None:
    made = ended(mira, "When I'm sad, please steer clear of my father.")
    turn_hooks.after_turn(made.pk, NOW)
    assert offer.accept(mira, made.uuid, NOW)
    lesson = ConceptNode.objects.get()
    assert (lesson.scope, lesson.condition) == ("feeling", "When I'm sad")


@pytest.mark.django_db
def test_at_most_three_offers_are_open(mira: Persona) -> None:
    for topic in ("kids", "money", "weight", "work", "church"):
        turn_hooks.after_turn(ended(mira, f"Please steer clear of the topic of {topic}.").pk, NOW)
    assert len(offer.open_offers(mira)) == 3


@pytest.mark.django_db
def test_what_may_be_a_request_to_forget_is_a_question_before_anything_is_looked_for(
    mira: Persona, client: Client, remember: Any
) -> None:
    node = remember(mira, "Ana has a knee injury.")
    made = ended(mira, "Lose the stuff about my knee injury, it bores me.")
    turn_hooks.after_turn(made.pk, NOW)
    [told] = asked()
    client.force_login(mira.owner)
    address = reverse("forget_find", args=[mira.uuid, told["asked_id"]])
    question = client.get(address).content.decode()
    assert 'data-testid="forget-unsure"' in question
    assert str(node.uuid) not in question
    assert f'value="{node.uuid}" checked' in client.get(f"{address}?look=1").content.decode()


@pytest.mark.django_db
def test_an_offer_is_open_while_what_it_is_about_is_there_and_for_nobody_else(
    mira: Persona, otto: Persona, client: Client, remember: Any
) -> None:
    node = remember(mira, "Ruth lives in Leeds.")
    made = ended(mira, "Actually Ruth lives in York.")
    turn_hooks.after_turn(made.pk, NOW)
    assert [one["event"] for one in offer.open_offers(mira)] == ["memory.correction.asked"]
    client.force_login(otto.owner)
    for address in (reverse("offers", args=[mira.uuid]), reverse("may_be_asked", args=[mira.uuid, made.uuid])):
        assert client.get(address).status_code == 404
    assert not offer.open_offers(otto)
    node.delete()
    assert not offer.open_offers(mira)
    kissed = ended(mira, "I kissed Tom.", "> Oh!", "Forget that.")
    turn_hooks.after_turn(kissed.pk, NOW)
    assert [one["event"] for one in offer.open_offers(mira)] == ["memory.forget.asked"]
    client.force_login(mira.owner)
    client.post(reverse("put_back", args=[mira.uuid, kissed.uuid]))
    assert not offer.open_offers(mira)


@pytest.mark.django_db
@each_row(
    "memory, message, corrected",
    [
        ("Ana：“我妹妹小雨在昆明当护士”", "其实我妹妹小雨在大理当护士", "Ana：“我妹妹小雨在大理当护士”"),
        ("Ana：“我妹妹小雨在昆明当护士”", "我妹妹小雨现在在大理当护士，不是昆明", "Ana：“我妹妹小雨在大理当护士”"),
        ("Ana: “Ruth lives in Leeds”", "Ruth lives in York, actually.", "Ana: “Ruth lives in York”"),
        ("Ana: “Ruth lives in Leeds”", "Hi! Ruth actually lives in York now.", "Ana: “Ruth lives in York”"),
        ("Ana has three sisters.", "Actually I have two sisters.", "Ana has two sisters."),
    ],
)
def test_a_first_message_that_says_otherwise_than_a_memory_is_offered_with_the_words_that_change(
    mira: Persona, client: Client, remember: Any, memory: str, message: str, corrected: str
) -> None:
    ConceptNode.objects.all().delete()
    OutboxEvent.objects.all().delete()
    remember(mira, "Ana has a garden.")
    node = remember(mira, memory)
    turn_hooks.after_turn(ended(mira, message).pk, NOW)
    [told] = asked("memory.correction.asked")
    assert told["node_ids"] == [str(node.uuid)]
    client.force_login(mira.owner)
    card = client.get(f"{reverse('correction', args=[mira.uuid, told['asked_id']])}?node={node.uuid}")
    assert corrected in card.content.decode()


@pytest.mark.django_db
@each_row(
    "message", ["Actually I have a cold.", "Ruth actually works too much.", "其实小雨在单位很受欢迎", "我不是饿，是困"]
)
def test_additional_details_offer_no_correction(mira: Persona, remember: Any, message: str) -> None:
    OutboxEvent.objects.all().delete()
    for memory in ("Ana has three brothers.", "Ruth works as a nurse.", "Ana：“我妹妹小雨在昆明当护士”"):
        remember(mira, memory)
    turn_hooks.after_turn(ended(mira, message).pk, NOW)
    assert not asked("memory.correction.asked")


@pytest.mark.django_db
def test_a_long_message_is_held_against_the_nearest_memories_alone(
    mira: Persona, remember: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    aligned: list[str] = []

    def read_change(memory: str, claim: Any, owner: str = "") -> Any:
        aligned.append(memory)
        return restatement.read_change(memory, claim, owner)

    monkeypatch.setattr(corrections, "read_change", read_change)
    monkeypatch.setattr(corrections, "MAX_ALIGNED", 4)
    for number in range(12):
        remember(mira, f"Ana saw the river {number} times.")
    meant = remember(mira, "Ruth lives in a house by the river in Leeds.")
    made = ended(mira, "Actually Ruth lives in a house by the river in York. " * 190)
    offer.offer(made, list(made.messages.filter(role="user")))
    [told] = asked("memory.correction.asked")
    assert told["node_ids"] == [str(meant.uuid)]
    assert len(aligned) <= offer.MAX_CORRECTIONS * 4 + corrections.MAX_OFFERED * offer.MAX_CORRECTIONS
    aligned.clear()
    made = ended(mira, "I don't like the cold by the river. " * 270)
    offer.offer(made, list(made.messages.filter(role="user")))
    assert not aligned


def test_who_says_how_not_to_be_called_is_asked_about_a_wish() -> None:
    words = "Drop the Mrs, would you."
    wish = wish_of(words, Request(RequestKind.NAME, 0, len(words), "", sure=False))
    assert (wish.scope, wish.text) == ("always", words)
    assert not is_refused(wish)


# --- something is wrong, and it is not said what -----------------------------------------------------------------
@pytest.mark.django_db
@each_row(
    ("reply", "said", "memories", "recalled", "chosen"),
    [
        ("You live in Leeds.", "No, that's not right.", ["Ana lives in Leeds.", "Ana has a cat."], [0, 1], [0]),
        ("你住在利兹。", "不对，记错了", ["Ana住在利兹。", "Ana养了一只猫。"], [0, 1], [0]),
        ("I see.", "That's wrong about my sister.", ["Rosa is a nurse.", "Ana has a cat."], [1], [0]),
        ("嗯。", "不对，我妹妹的事你记错了", ["小雨是护士。", "Ana养了一只猫。"], [1], [0]),
        ("You are a good person.", "No, that's not right.", ["Ana lives in Leeds."], [0], []),
        ("You live in Leeds.", "No, that's not right.", ["Ana lives in Leeds."], [], [0]),
        ("It rains in Leeds.", "No, that's not right.", ["Ana found an old map of Leeds."], [], []),
        ("You live in Leeds.", "I did something wrong.", ["Ana lives in Leeds."], [0], []),
    ],
)
def test_who_only_says_that_something_is_wrong_chooses_among_what_the_reply_told_or_the_people_named(
    mira: Persona,
    client: Client,
    remember: Any,
    reply: str,
    said: str,
    memories: list[str],
    recalled: list[int],
    chosen: list[int],
) -> None:
    mira.entities.all().delete()
    ConceptNode.objects.all().delete()
    nodes = [remember(mira, text) for text in memories]
    for name, relation in (("Rosa", "sister"), ("小雨", "妹妹")):
        if nodes[0].description.startswith(name):
            entity = Entity.objects.create(persona=mira, canonical_name=name, relation=relation, kind="person")
            Mention.objects.create(node=nodes[0], entity=entity)
    seen = {"chosen": [{"id": str(nodes[at].uuid), "layer": "L3"} for at in recalled]}
    made = ended(mira, "Where do I live?", f"> {reply}", said, xray={"recollections": seen})
    turn_hooks.after_turn(made.pk, NOW)
    offers = [one for one in asked("memory.correction.asked") if one["turn_id"] == str(made.uuid)]
    assert [one["node_ids"] for one in offers] == ([[str(nodes[at].uuid) for at in chosen]] if chosen else [])
    if not chosen:
        return
    client.force_login(mira.owner)
    address = reverse("correction", args=[mira.uuid, offers[0]["asked_id"]])
    choices = client.get(address).content.decode()
    assert [nodes[at].description in choices for at in range(len(nodes))] == [at in chosen for at in range(len(nodes))]
    card = client.get(f"{address}?node={nodes[chosen[0]].uuid}").content.decode()
    assert f">\n{nodes[chosen[0]].description}</textarea>" in card, "the correction form as the memory reads"
    assert offers[0]["is_open"]


@pytest.mark.django_db
@each_row(
    ("language", "said", "choice", "reads", "none"),
    [
        ("en", "No, that's not right.", "1: Ana lives in York.", "Ana lives in York.", "7: Ana lives in York."),
        ("zh", "不对，记错了", "第一条：Ana住在约克。", "Ana住在约克。", "9、Ana住在约克。"),
    ],
)
def test_without_a_page_the_reply_lists_what_may_be_wrong_and_a_number_corrects_it(
    mira: Persona, remember: Any, language: str, said: str, choice: str, reads: str, none: str
) -> None:
    Persona.objects.filter(pk=mira.pk).update(language=language)
    mira.refresh_from_db()
    node = remember(mira, "Ana lives in Leeds." if language == "en" else "Ana住在利兹。")
    seen = {"recollections": {"chosen": [{"id": str(node.uuid), "layer": "L3"}]}}
    mira.sessions.update(status="closed")
    session = Session.objects.create(persona=mira, channel="api", started_at=NOW, last_message_at=NOW)

    def reply_to(content: str) -> str:
        made = turn(session, "done")
        add_message(session, Message.Role.USER, content, NOW, turn=made)
        text, made.xray = by_word.answer(made, NOW)
        made.xray = made.xray or seen
        made.save(update_fields=["xray"])
        add_message(session, Message.Role.PERSONA, text or f"I remember: {node.description}", NOW, turn=made)
        return text

    assert reply_to("Where do I live?") == ""
    listed = reply_to(said)
    assert f"1. {node.description}" in listed
    assert reply_to(none)
    node.refresh_from_db()
    assert node.description != reads, "there is no such number"
    reply_to("Hm.")
    assert reply_to(choice) == "", "an answer is one only right after the list"
    reply_to(said)
    assert reads in reply_to(choice)
    node.refresh_from_db()
    assert (node.description, node.versions.count()) == (reads, 1)


@pytest.mark.django_db
@each_row(
    ("said", "reads", "keeps_asking"),
    [
        ("2.5 kg of flour, please", "", False),
        ("1 - 2 years ago I moved", "", False),
        ("1:30 is when I wake", "", False),
        ("一个人住了两年", "", False),
        ("1: that's wrong", "", True),
        ("1: no longer true", "", True),
        ("1: yes", "", True),
        ("1: keep it", "", True),
        ("1: is it?", "", True),
        ("第一条已经不对了", "", True),
        ("1、不用改", "", True),
        ("1: <script>alert(1)</script>", "<script>alert(1)</script>", False),
        ("1、2019年搬到约克。", "2019年搬到约克。", False),
    ],
)
def test_only_a_number_that_chooses_corrects_and_never_to_a_mere_denial(
    mira: Persona, remember: Any, said: str, reads: str, keeps_asking: bool
) -> None:
    node = remember(mira, "Ana lives in Leeds.")
    mira.sessions.update(status="closed")
    session = Session.objects.create(persona=mira, channel="api", started_at=NOW, last_message_at=NOW)
    turn(session, "done", xray={by_word.CHOICES: [str(node.uuid)]})
    made = turn(session, "done")
    add_message(session, Message.Role.USER, said, NOW, turn=made)
    text, noted = by_word.answer(made, NOW)
    node.refresh_from_db()
    assert node.description == (reads or "Ana lives in Leeds.")
    assert (bool(text), bool(noted)) == (bool(reads) or keeps_asking, keeps_asking)


@pytest.mark.django_db
@each_row(
    "said",
    [
        "1: no longer true", "1: it's not true any more", "1: that's over now", "1. outdated", "第一条已经不是这样了",
        "1：早就结束了", "第1条是以前的事了",
    ],
)  # fmt: skip
def test_a_listed_fact_that_is_called_over_ends_and_keeps_its_words(mira: Persona, remember: Any, said: str) -> None:
    fact = remember(mira, "Ana lives in Leeds.", kind="fact", domain="home")
    mira.sessions.update(status="closed")
    session = Session.objects.create(persona=mira, channel="api", started_at=NOW, last_message_at=NOW)
    turn(session, "done", xray={by_word.CHOICES: [str(fact.uuid)]})
    made = turn(session, "done")
    add_message(session, Message.Role.USER, said, NOW, turn=made)
    text, noted = by_word.answer(made, NOW)
    fact.refresh_from_db()
    assert (fact.description, fact.until) == ("Ana lives in Leeds.", NOW.date().isoformat())
    assert fact.description in text
    assert not noted


@pytest.mark.django_db
@each_row("said", ["1: no longer true?", "1: is it over?", "1：已经结束了？"])
def test_asking_whether_a_listed_fact_is_over_ends_nothing(mira: Persona, remember: Any, said: str) -> None:
    fact = remember(mira, "Ana lives in Leeds.", kind="fact", domain="home")
    mira.sessions.update(status="closed")
    session = Session.objects.create(persona=mira, channel="api", started_at=NOW, last_message_at=NOW)
    turn(session, "done", xray={by_word.CHOICES: [str(fact.uuid)]})
    made = turn(session, "done")
    add_message(session, Message.Role.USER, said, NOW, turn=made)
    _text, noted = by_word.answer(made, NOW)
    fact.refresh_from_db()
    assert (fact.description, fact.until) == ("Ana lives in Leeds.", "")
    assert noted


@pytest.mark.django_db
@each_row("said", ["1: forget it", "1: forget that I live there", "1: please delete this", "第一条删掉吧"])
def test_what_is_listed_can_be_forgotten_by_its_number_after_a_yes(mira: Persona, remember: Any, said: str) -> None:
    node = remember(mira, "Ana lives in Leeds.")
    mira.sessions.update(status="closed")
    session = Session.objects.create(persona=mira, channel="api", started_at=NOW, last_message_at=NOW)
    turn(session, "done", xray={by_word.CHOICES: [str(node.uuid)]})
    made = turn(session, "done")
    asking = add_message(session, Message.Role.USER, said, NOW, turn=made)
    text, noted = forgetting.by_word.answer(made, NOW)
    assert node.description in text
    assert noted == {forgetting.by_word.FOUND_KEY: {"node": [str(node.uuid)], "message": [str(asking.uuid)]}}


@pytest.mark.django_db
def test_a_memory_that_was_hidden_since_the_list_is_not_corrected(mira: Persona, remember: Any) -> None:
    node = remember(mira, "Ana lives in Leeds.")
    mira.sessions.update(status="closed")
    session = Session.objects.create(persona=mira, channel="api", started_at=NOW, last_message_at=NOW)
    turn(session, "done", xray={by_word.CHOICES: [str(node.uuid)]})
    ConceptNode.objects.filter(pk=node.pk).update(status=ConceptNode.Status.HIDDEN)
    made = turn(session, "done")
    add_message(session, Message.Role.USER, "1: Ana lives in York.", NOW, turn=made)
    assert "Corrected" not in by_word.answer(made, NOW)[0]
    node.refresh_from_db()
    assert node.description == "Ana lives in Leeds."


@pytest.mark.django_db
def test_the_card_offers_no_memory_that_was_hidden_since(mira: Persona, client: Client, remember: Any) -> None:
    nodes = [remember(mira, text) for text in ("Ana lives in Leeds.", "Ana keeps bees in Leeds.")]
    seen = {"recollections": {"chosen": [{"id": str(node.uuid), "layer": "L3"} for node in nodes]}}
    made = ended(mira, "Where am I?", "> You live in Leeds and keep bees in Leeds.", "That's not right.", xray=seen)
    turn_hooks.after_turn(made.pk, NOW)
    [data] = asked("memory.correction.asked")
    assert len(data["node_ids"]) == len(nodes)
    ConceptNode.objects.filter(pk=nodes[0].pk).update(status=ConceptNode.Status.HIDDEN)
    client.force_login(mira.owner)
    card = client.get(reverse("correction", args=[mira.uuid, data["asked_id"]])).content.decode()
    assert [node.description in card for node in nodes] == [False, True]
