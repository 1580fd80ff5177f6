"""Knobs of the conversation."""

from django.utils.translation import gettext_lazy as _

from echovessel.knobs import knob, whole

debounce_seconds = knob(
    "chat.debounce_seconds",
    0.6,
    low=0,
    high=30,
    unit=_("seconds"),
    why=_("Messages sent in quick succession belong to one turn; a longer wait would feel like hesitation."),
    source="design/turn.md",
)
lines_per_minute = whole(
    "chat.lines_per_minute",
    30,
    low=1,
    high=600,
    unit=_("lines"),
    why=_("Faster than anyone types; a script that sends more gets an error."),
    source="design/turn.md",
)
greeting_seconds = knob(
    "chat.greeting_seconds",
    0,
    low=0,
    high=60,
    unit=_("seconds"),
    why=_(
        "How long the first page waits for a greeting that the model writes. With 0 a rule "
        "writes it: opening a page then uses no model and costs nothing."
    ),
)
greeting_retry_minutes = whole(
    "chat.greeting_retry_minutes",
    15,
    low=0,
    high=1_440,
    unit=_("minutes"),
    why=_(
        "If a model's greeting came too late or could not be shown, the model is not asked again "
        "at each reload of the page."
    ),
)
bad_frames_allowed = whole(
    "chat.bad_frames_allowed",
    20,
    low=1,
    high=1_000,
    unit=_("frames"),
    why=_("A client that sends this many unreadable frames in a row is broken: its socket is closed."),
    source="design/platform.md 4",
)
recent_window_size = whole(
    "memory.recent_window_size",
    20,
    low=2,
    high=200,
    unit=_("messages"),
    why=_("The last messages are shown word for word; recall does not repeat them."),
    source="seed 001 §2",
)
prompt_tokens = whole(
    "chat.prompt_tokens",
    6_000,
    low=500,
    high=200_000,
    unit=_("tokens"),
    why=_("One budget for the whole prompt; it suits models with an 8k window and leaves room for the reply."),
    source="design/turn.md",
)
reply_tokens = whole(
    "chat.reply_tokens",
    1_500,
    low=50,
    high=32_000,
    unit=_("tokens"),
    why=_("A reply longer than this is no longer conversation."),
)
reply_characters = whole(
    "chat.reply_characters",
    20_000,
    low=200,
    high=100_000,
    unit=_("characters"),
    why=_(
        "Some servers ignore the token limit: a reply that reaches this length is ended. A "
        "message of the owner cannot be longer either."
    ),
)
recall_tokens = whole(
    "memory.recall_tokens",
    1_500,
    low=100,
    high=50_000,
    unit=_("tokens"),
    why=_("The part of a prompt that recall may fill."),
    source="design/recall.md",
)
query_lines = whole(
    "memory.query_lines",
    4,
    low=1,
    high=20,
    unit=_("lines"),
    why=_(
        "The user's recent messages that form the query of recall; each has 0.6 of the weight of the next newer one."
    ),
    source="design/recall.md",
)
query_minutes = whole(
    "memory.query_minutes",
    60,
    low=0,
    high=1_440,
    unit=_("minutes"),
    why=_(
        "A message of an earlier session is part of the query only if it is no older than this: "
        "after a long pause it would draw a question to the last topic of that time."
    ),
    source="design/recall.md",
)
answers_per_turn = whole(
    "chat.answers_per_turn",
    6,
    low=1,
    high=50,
    unit=_("answers"),
    why=_(
        "This many answers to the same messages can be compared; needing more is a sign that the "
        "message should be reworded."
    ),
)
lease_seconds = knob(
    "chat.lease_seconds",
    10,
    low=2,
    high=300,
    unit=_("seconds"),
    why=_("A server that dies in the middle of a reply is noticed after this; a live one renews three times as often."),
    source="design/turn.md",
)
late_lease_seconds = knob(
    "chat.late_lease_seconds",
    60,
    low=0,
    high=3_600,
    unit=_("seconds"),
    why=_(
        "How long after its lease has lapsed a server on this machine that still runs keeps its "
        "turn: on a busy machine it cannot renew in time, and its reply should not be lost."
    ),
)
sweep_seconds = knob(
    "chat.sweep_seconds",
    2,
    low=0.2,
    high=60,
    unit=_("seconds"),
    why=_("How often a server looks for turns that were left waiting or abandoned."),
)
token_interval_seconds = knob(
    "chat.token_interval_seconds",
    0.03,
    low=0,
    high=1,
    unit=_("seconds"),
    why=_("Tokens that come faster are sent together: the eye sees no difference, the socket does."),
    source="design/platform.md 4",
)
heartbeat_seconds = whole(
    "chat.heartbeat_seconds",
    30,
    low=5,
    high=300,
    unit=_("seconds"),
    why=_("Keeps address translators awake, and shows a page that its server is there."),
    source="seed 001 §11",
)
stream_beat_seconds = knob(
    "chat.stream_beat_seconds",
    15,
    low=1,
    high=30,
    unit=_("seconds"),
    why=_("Keeps proxies from closing a silent event stream; a login or token that has ended is noticed with it."),
)
streams_per_owner = whole(
    "chat.streams_per_owner",
    10,
    low=1,
    high=1_000,
    unit=_("streams"),
    why=_(
        "Event streams that one person may keep open at a time in one server process; a script "
        "that forgets to close them gets an error."
    ),
)
waiting_requests = whole(
    "chat.waiting_requests",
    4,
    low=1,
    high=100,
    unit=_("requests"),
    why=_(
        "Requests through /v1 of one person that may wait for a reply at a time; turns run one "
        "after another, so more would only queue."
    ),
)
queued_requests = whole(
    "chat.queued_requests",
    16,
    low=0,
    high=1_000,
    unit=_("requests"),
    why=_("Further requests of one person through /v1 that wait for one of those to end; programs ask in parallel."),
)
queue_seconds = knob(
    "chat.queue_seconds",
    60,
    low=0,
    high=600,
    unit=_("seconds"),
    why=_("A request through /v1 waits this long for a free slot; then the client is told when to retry."),
)
errands_per_minute = whole(
    "chat.errands_per_minute",
    60,
    low=1,
    high=1_000,
    unit=_("requests"),
    why=_("Titles, tags and the like that a client requests through /v1: up to six for each message of a person."),
)
longest_wait_seconds = knob(
    "chat.longest_wait_seconds",
    300,
    low=5,
    high=3_600,
    unit=_("seconds"),
    why=_(
        "A request through /v1 waits this long for its reply, including the turns before it. The turn itself continues."
    ),
)
same_request_seconds = knob(
    "chat.same_request_seconds",
    120,
    low=0,
    high=3_600,
    unit=_("seconds"),
    why=_(
        "The same messages through /v1 within this time after their reply, with a history that "
        "lacks the reply, count as one request that was sent again after a broken connection."
    ),
)
idle_minutes = whole(
    "chat.idle_minutes",
    30,
    low=1,
    high=1_440,
    unit=_("minutes"),
    why=_("A session without messages for this long is closed and remembered."),
    source="seed 001 §4",
)
idle_scan_seconds = whole(
    "idle_scanner.interval_seconds",
    60,
    low=60,
    high=3_600,
    unit=_("seconds"),
    why=_("How often the schedule looks for idle sessions; django-q2 keeps whole minutes."),
    source="seed 001 §4",
)
longest_session_messages = whole(
    "chat.longest_session_messages",
    200,
    low=10,
    high=5_000,
    unit=_("messages"),
    why=_("A session that grows this long is closed, so that it is remembered in parts."),
    source="design/consolidation.md",
)
longest_session_tokens = whole(
    "chat.longest_session_tokens",
    20_000,
    low=1_000,
    high=500_000,
    unit=_("tokens"),
    why=_("A session that grows this long is closed, so that it is remembered in parts."),
    source="design/consolidation.md",
)
care_hold_hours = whole(
    "care.hold_hours",
    48,
    low=0,
    high=720,
    unit=_("hours"),
    why=_(
        "After a crisis message the companion does not write first for this long, and its "
        "replies take the crisis into account."
    ),
)
care_lines = whole(
    "care.lines",
    4,
    low=1,
    high=50,
    unit=_("messages of the user"),
    why=_("While one of this many latest messages speaks of a crisis, the conversation is still about it."),
)
ai_notice_hours = whole(
    "care.ai_notice_hours",
    3,
    low=1,
    high=24,
    unit=_("hours"),
    why=_("After each of these hours of a conversation the page says again that the companion is an AI."),
    source="New York GBL article 47; California SB 243",
)
