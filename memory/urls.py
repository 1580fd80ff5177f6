"""URLs of memory: requests of the chat page, the owner's pages, and their account."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from memory.consolidation import open_items
from memory.curation.actions import NODE_ACTIONS
from memory.curation.threads import MEMBER_ACTIONS, THREAD_ACTIONS
from memory.entities import merge
from memory.web.entity_actions import ENTITY_ACTIONS
from memory.web.views import (
    account,
    asked,
    chat_page,
    companion,
    drafts,
    facts,
    forgetting,
    imports,
    lessons,
    memories,
    memory,
    merge_proposals,
    onboarding,
    people,
    threads,
    year,
)


def _make_choice_converter(*actions: str) -> type[StringConverter]:
    """A path converter that matches only these names; a path with any other is not found."""
    return type("Action", (StringConverter,), {"regex": "|".join(actions)})


register_converter(_make_choice_converter("correct", "restore", *NODE_ACTIONS, *open_items.BY_HAND), "action")
register_converter(_make_choice_converter(*ENTITY_ACTIONS), "person_action")
register_converter(_make_choice_converter(*merge.DECISIONS), "name_action")
register_converter(_make_choice_converter("rename", *THREAD_ACTIONS, *MEMBER_ACTIONS), "thread_action")
register_converter(_make_choice_converter(*drafts.ACTIONS), "draft_action")
register_converter(_make_choice_converter(*drafts.LABELS), "block")

urlpatterns = [
    path("memory/<uuid:persona>/timeline/", chat_page.timeline, name="timeline"),
    path("memory/<uuid:persona>/remembered/", chat_page.remembered_messages, name="remembered"),
    path("memory/<uuid:persona>/remember/<uuid:message>/", chat_page.remember, name="remember"),
    path("memory/<uuid:persona>/search/", chat_page.search_conversation, name="search_conversation"),
    path("memory/<uuid:persona>/learned/", chat_page.learned_pieces, name="learned"),
    path("memory/<uuid:persona>/", memories.memories, name="memory"),
    path("memory/<uuid:persona>/nodes/<uuid:node>/", memory.node, name="memory_node"),
    path("memory/<uuid:persona>/nodes/<uuid:node>/<action:action>/", memory.memory_action, name="memory_action"),
    path("memory/<uuid:persona>/companion/", companion.companion, name="companion"),
    path("memory/<uuid:persona>/picture/", companion.picture, name="picture"),
    path("memory/<uuid:persona>/chosen/", memories.act_on_memories, name="memory_chosen"),
    path("memory/<uuid:persona>/year/", year.year, name="memory_year"),
    path("memory/<uuid:persona>/facts/", facts.facts, name="facts"),
    path("memory/<uuid:persona>/story-lines/", threads.threads, name="story_lines"),
    path("memory/<uuid:persona>/story-lines/<uuid:thread>/", threads.thread, name="story_line"),
    path(
        "memory/<uuid:persona>/story-lines/<uuid:thread>/<thread_action:action>/",
        threads.thread_action,
        name="story_line_action",
    ),
    path("memory/<uuid:persona>/wishes/", lessons.wishes, name="wishes"),
    path("memory/<uuid:persona>/wishes/<uuid:node>/", lessons.edit_wish, name="edit_wish"),
    path("memory/<uuid:persona>/wishes/<uuid:node>/undo/", lessons.undo_edit, name="undo_wish"),
    path("memory/<uuid:persona>/forget/", forgetting.forget, name="forget"),
    path("memory/<uuid:persona>/forget/find/<uuid:message>/", asked.find, name="forget_find"),
    path("memory/<uuid:persona>/put-back/<uuid:turn>/", asked.restore, name="put_back"),
    path("memory/<uuid:persona>/offers/", asked.open_offers, name="offers"),
    path("memory/<uuid:persona>/offers/<uuid:turn>/", asked.may_be_asked, name="may_be_asked"),
    path("memory/<uuid:persona>/offers/<uuid:turn>/settle/", asked.settle, name="settle_offer"),
    path("memory/<uuid:persona>/superseded/<uuid:node>/", asked.superseded, name="superseded"),
    path("memory/<uuid:persona>/correction/<uuid:message>/", asked.correction, name="correction"),
    path("memory/<uuid:persona>/receipts/", forgetting.receipts, name="receipts"),
    path("memory/<uuid:persona>/people/", people.people, name="memory_people"),
    path("memory/<uuid:persona>/people/<uuid:entity>/", people.person, name="memory_somebody"),
    path("memory/<uuid:persona>/people/<uuid:entity>/photo/", people.photo, name="memory_photo"),
    path(
        "memory/<uuid:persona>/people/<uuid:entity>/<person_action:action>/",
        people.person_action,
        name="memory_person_action",
    ),
    path("memory/<uuid:persona>/names/", merge_proposals.names, name="memory_names"),
    path("memory/<uuid:persona>/names/merge/", merge_proposals.merge_two, name="memory_merge_two"),
    path(
        "memory/<uuid:persona>/names/<uuid:proposal>/<name_action:action>/",
        merge_proposals.name_action,
        name="memory_name_action",
    ),
    path("memory/<uuid:persona>/bring/", imports.imports, name="imports"),
    path("memory/<uuid:persona>/bring/<uuid:job>/", imports.import_job, name="import_job"),
    path("memory/<uuid:persona>/bring/<uuid:job>/cancel/", imports.cancel_import, name="cancel_import"),
    path("memory/<uuid:persona>/drafts/", drafts.drafts, name="drafts"),
    path("memory/<uuid:persona>/drafts/<block:label>/accept/", drafts.accept_all, name="accept_drafts"),
    path("memory/<uuid:persona>/drafts/<uuid:draft>/<draft_action:action>/", drafts.draft_action, name="draft_action"),
    path("welcome/persona/material/", onboarding.material, name="onboarding_material"),
    path("welcome/persona/material/<uuid:job>/", onboarding.material_job, name="material_job"),
    path("welcome/persona/material/<uuid:job>/cancel/", onboarding.cancel_material, name="cancel_material"),
    path("account/", account.account, name="account"),
    path("account/receipts/<uuid:receipt>/", forgetting.receipt, name="receipt"),
    path("account/receipts/<uuid:receipt>/replies/", forgetting.withhold_replies, name="receipt_replies"),
    path("account/tokens/", account.make_token, name="make_token"),
    path("account/data/", account.my_data, name="my_data"),
    path("account/delete/", account.delete_account, name="delete_account"),
    path("account/companions/<uuid:persona>/delete/", account.delete_persona, name="delete_persona"),
]
