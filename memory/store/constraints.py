"""What the layers demand of tags, in the database itself: a CHECK cannot look into a JSON list, a trigger can."""

from echovessel.db.sqlite.triggers import Trigger
from memory.models.node import MAX_EMOTION_TAGS, MAX_RELATIONAL_TAGS, RELATIONAL_TAGS

_KNOWN = ", ".join(f"'{tag}'" for tag in RELATIONAL_TAGS)
_BODY = (
    "SELECT RAISE(ABORT, 'an unknown relational tag') FROM json_each(new.relational_tags) "
    f"WHERE value NOT IN ({_KNOWN}); "
    "SELECT RAISE(ABORT, 'too many tags') "
    f"WHERE json_array_length(new.relational_tags) > {MAX_RELATIONAL_TAGS} "
    f"OR json_array_length(new.emotion_tags) > {MAX_EMOTION_TAGS};"
)


def _trigger(name: str, moment: str) -> Trigger:
    table = "memory_conceptnode"
    return Trigger(name, table, f"CREATE TRIGGER {name} BEFORE {moment} ON {table} BEGIN {_BODY} END")


TRIGGERS = [
    _trigger("memory_node_tags_insert", "INSERT"),
    _trigger("memory_node_tags_update", "UPDATE OF relational_tags, emotion_tags"),
]
