"""To whom the owner's messages of an imported chat between people were said.

"Your birthday present", said to Tom, would be read as said to the persona. The persona is not addressed in an imported
session in which other people speak and the persona does not; nor in one in which the owner alone speaks, where the
whole import is such a chat: a new session begins after some hours, and nobody may have answered in it.
"""

import json
from collections.abc import Iterable, Sequence

from django.db import connection

from chat.models import Message
from echovessel.llm.prompts import Neutral, one_line

NAMED_LIMIT = 2
UNKNOWN = "?"  # the speaker of a message whose file does not say who spoke
NOBODY_NAMED = {"en": "somebody else", "zh": "别人"}

# Indexes are named because the planner, which knows nothing of how few messages are of others, reads whole sessions.
_SQL = """
WITH wanted AS (SELECT value ->> 0 AS session, value ->> 1 AS import FROM json_each(%s)),
talked AS (SELECT w.session, NOT EXISTS (SELECT 1 FROM chat_message p INDEXED BY message_by_import
        WHERE p.import_uuid = w.import AND p.role = 'persona') AS between_people,
    EXISTS (SELECT 1 FROM chat_message o INDEXED BY message_by_import
        WHERE o.import_uuid = w.import AND o.role = 'system') AS has_others
    FROM wanted w CROSS JOIN chat_session s ON s.id = w.session
    WHERE s.close_reason = 'import' AND s.channel <> 'journal')
SELECT t.session, m.speaker, min(m.id), min(m.withheld), m.id IS NOT NULL OR t.between_people
FROM talked t LEFT JOIN chat_message m INDEXED BY message_speakers ON m.session_id = t.session AND m.speaker > ''
WHERE t.has_others AND (t.between_people OR NOT EXISTS (
    SELECT 1 FROM chat_message p WHERE p.session_id = t.session AND p.role = 'persona'))
GROUP BY t.session, m.speaker ORDER BY t.session, 3
"""


def find_addressees(sessions: Iterable[tuple[int, str]]) -> dict[int, tuple[str, ...]]:
    """The names of those who are spoken to, by session, in the order in which they first spoke; empty where the names
    are unknown or withheld. Sessions in which the persona may be addressed are left out. `sessions` are pairs of a
    session's key and the hex of the import of its messages. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(_SQL, [json.dumps(sorted(set(sessions)))])
        rows = cursor.fetchall()
    names: dict[int, list[str]] = {}
    for session, speaker, _first, withheld, is_for_others in rows:
        if is_for_others:
            known = names.setdefault(session, [])
            if speaker and speaker != UNKNOWN and not withheld:
                known.append(speaker)
    return {session: tuple(known) for session, known in names.items()}


def addressees_of(messages: Iterable[Message]) -> dict[int, tuple[str, ...]]:
    """`find_addressees` for those of the messages that the owner said and a file brought. No statement without them."""
    pairs = {
        (message.session_id, message.import_uuid.hex)
        for message in messages
        if message.import_uuid and message.role == Message.Role.USER
    }
    return find_addressees(pairs) if pairs else {}


def format_addressees(names: Sequence[str], language: str) -> Neutral:
    """What stands behind the speaker's name in a prompt.

    >>> format_addressees(["Tom", "Eva", "Jo"], "en"), format_addressees(["Tom"], "zh"), format_addressees([], "en")
    (' (to Tom, Eva, …)', '（对Tom说）', ' (to somebody else)')
    """
    shown: list[str] = [one_line(name) for name in names[:NAMED_LIMIT]] or [NOBODY_NAMED[language]]
    more = len(names) > NAMED_LIMIT
    if language == "zh":
        return Neutral(f"（对{'、'.join(shown)}{'…' if more else ''}说）")
    return Neutral(f" (to {', '.join([*shown, *(['…'] if more else [])])})")
