"""Every place that can hold words is known to forgetting: a new column fails here until somebody has said what becomes
of it."""

import re

import pytest
from django.db import connection

# What forgetting deletes or rewrites, as `memory.forgetting.copies` and the triggers do.
FORGOTTEN = """
chat_message.content chat_messagetext.body chat_turn.partial chat_turn.xray chat_session.summary chat_session.failure
memory_conceptnode.description memory_conceptnode.emotion_tags memory_conceptnode.content_hash memory_evidence.quote
memory_nodetext.body memory_nodevector.embedding memory_stagedvector.embedding
memory_nodeversion.description memory_nodeversion.emotion_tags
memory_entity.canonical_name memory_entity.description memory_alias.text memory_alias.normalized
memory_extraction.answer memory_modelreply.text memory_question.text memory_question.content_hash
persona_moodchange.mood persona_moodchange.last_user_signal
persona_persona.episodic_state outbox_outboxevent.data django_admin_log.object_repr django_admin_log.change_message
django_q_task.args django_q_task.kwargs django_q_task.result
chat_message.speaker persona_coredraft.text persona_coredraft.content_hash persona_draftquote.quote
persona_draftquote.where memory_importjob.file_name memory_importjob.found memory_importjob.choices
memory_importjob.refusal memory_importpiece.content
"""
# Ids in archives: gone with the row, and buried.
NAMED = "chat_message chat_session chat_turn memory_conceptnode memory_entity memory_importrun memory_mergeproposal"
NAMED += " memory_importjob memory_receipt persona_coredraft persona_moodchange persona_persona"
# What a person wrote of the two and about themselves: only the person's own deed, or the end of the account, takes it.
WRITTEN_BY_PEOPLE = """
persona_persona.name persona_persona.user_name persona_persona.facts persona_coreblock.content
persona_coreblockversion.content auth_user.username auth_user.first_name auth_user.last_name auth_user.email
auth_user.password tokens_apitoken.name django_session.session_data axes_accessattempt.*
axes_accessfailurelog.* axes_accesslog.*
"""
# No words of people: codes, names of ours, counts, keys, digests.
WORDLESS = """
*.kind *.status *.source *.channel *.role *.holder *.label *.language *.timezone *.scope *.model *.outcome *.reason
*.verification *.subject *.archived_because *.described_by *.embedding_model *.waiting_for *.close_reason *.error
*.step *.usage *.relational_tags *.trigger *.trigger_key *.gate *.verdict *.about_uuid
memory_slowcyclerun.* proactive_consideration.facts proactive_pushsubscription.*
tokens_apitoken.prefix tokens_apitoken.digest
memory_embeddingmodel.name memory_mergeproposal.reasons memory_mergeproposal.snapshot memory_importrun.counts
memory_receipt.* memory_tombstone.* audit_look.* llm_llmcall.* outbox_outboxevent.name outbox_outboxevent.stream
django_q_task.* django_q_ormq.* django_q_schedule.* django_session.session_key django_content_type.* auth_permission.*
auth_group.* django_migrations.* django_admin_log.object_id sqlite_sequence.* sqlite_stat1.* sqlite_stat4.*
memory_vectorstate.* chat_linestate.* *.uuid *.persona_uuid *.session_uuid *.turn_uuid *.import_uuid *.client_id
memory_nodetext_size.* chat_messagetext_size.* memory_importjob.file_digest memory_importjob.format
memory_importjob.counts memory_importjob.failure memory_importchunk.digest persona_draftquote.said_in
"""
# Search structures, which follow their tables by triggers and are proved by `verify_forgetting`.
STRUCTURES = re.compile(r"memory_nodevec(_.*)?|\w+_(fts|substrings?|trigrams?)(_.*)?")
_HOLDS_NO_WORDS = re.compile("INT|BOOL|REAL|DATE|TIME|DECIMAL|FLOAT|DOUBLE", re.IGNORECASE)


@pytest.mark.django_db
def test_every_column_that_can_hold_words_is_accounted_for() -> None:
    known = {*FORGOTTEN.split(), *WRITTEN_BY_PEOPLE.split(), *WORDLESS.split()}
    known |= {f"{table}.external_id" for table in NAMED.split()}
    unknown = {
        f"{table}.{column}"
        for table, column in columns()
        if not {f"{table}.{column}", f"{table}.*", f"*.{column}"} & known
    }
    assert unknown == set()


def columns() -> list[tuple[str, str]]:
    """Every column of text, JSON or bytes, of every table."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT t.name, c.name, c.type FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c "
            "WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_schema'"
        )
        found = cursor.fetchall()
    return [
        (table, column)
        for table, column, kind in found
        if not STRUCTURES.fullmatch(table) and not _HOLDS_NO_WORDS.search(kind)
    ]
