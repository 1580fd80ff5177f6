"""Knobs of the conversation."""

from django.utils.translation import gettext_lazy as _

from echovessel.knobs import knob, whole

debounce_seconds = knob(
    "chat.debounce_seconds",
    0.6,
    low=0,
    high=30,
    unit=_("seconds"),
    why=_("Lines typed in one breath belong to one turn; longer would be felt as hesitation."),
    source="design/turn.md",
)
lines_per_minute = whole(
    "chat.lines_per_minute",
    30,
    low=1,
    high=600,
    unit=_("lines"),
    why=_("Faster than anyone types; a script that floods is told so."),
    source="design/turn.md",
)
greeting_seconds = knob(
    "chat.greeting_seconds",
    0,
    low=0,
    high=60,
    unit=_("seconds"),
    why=_(
        "How long a first page waits for a greeting that the model writes; at 0 the page writes it, for a page that is "
        "opened asks no model, and costs nothing."
    ),
)
greeting_retry_minutes = whole(
    "chat.greeting_retry_minutes",
    15,
    low=0,
    high=1_440,
    unit=_("minutes"),
    why=_("A model whose greeting came too late or could not be shown is not asked again at each reload of the page."),
)
bad_frames_allowed = whole(
    "chat.bad_frames_allowed",
    20,
    low=1,
    high=1_000,
    unit=_("frames"),
    why=_("A client that sends this many frames nobody can read in a row is broken: its socket is closed."),
    source="design/platform.md 4",
)
recent_window_size = whole(
    "memory.recent_window_size",
    20,
    low=2,
    high=200,
    unit=_("messages"),
    why=_("What was said last is shown word for word; recall does not repeat it."),
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
        "Some servers heed no limit of tokens: a reply that goes on for so long is ended. A message of the "
        "owner is no longer than this either."
    ),
)
recall_tokens = whole(
    "memory.recall_tokens",
    1_500,
    low=100,
    high=50_000,
    unit=_("tokens"),
    why=_("What recall may fill of a prompt."),
    source="design/recall.md",
)
query_lines = whole(
    "memory.query_lines",
    4,
    low=1,
    high=20,
    unit=_("lines"),
    why=_("The user's recent lines that recall is asked with; an older one weighs 0.6 of the next."),
    source="design/recall.md",
)
query_minutes = whole(
    "memory.query_minutes",
    60,
    low=0,
    high=1_440,
    unit=_("minutes"),
    why=_(
        "An earlier line of another session counts in the query only if it is no older than this: after a "
        "long pause a question would be drawn to the last topic of that time."
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
        "So many answers to the same messages can be compared; more are a sign that the message is to be worded anew."
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
        "How long after its lease a server of this machine that still runs may be late: on a busy machine it "
        "cannot renew in time, and its reply is not to be thrown away."
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
        "Event streams one person may keep open at a time in one server process; a script that forgets them is told."
    ),
)
waiting_requests = whole(
    "chat.waiting_requests",
    4,
    low=1,
    high=100,
    unit=_("requests"),
    why=_(
        "Requests of one person that may wait for a reply at a time through /v1; turns are serial: more would queue."
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
    why=_("A request through /v1 waits so long for its turn to be heard; then it is told when to come back."),
)
errands_per_minute = whole(
    "chat.errands_per_minute",
    60,
    low=1,
    high=1_000,
    unit=_("requests"),
    why=_("Titles, tags and the like that a client asks for through /v1: up to six beside each message of a person."),
)
longest_wait_seconds = knob(
    "chat.longest_wait_seconds",
    300,
    low=5,
    high=3_600,
    unit=_("seconds"),
    why=_("A request through /v1 waits so long for its reply, the turns before it included. The turn itself goes on."),
)
same_request_seconds = knob(
    "chat.same_request_seconds",
    120,
    low=0,
    high=3_600,
    unit=_("seconds"),
    why=_(
        "The same lines through /v1, so soon after their reply and without it in the history, are one "
        "request that was sent again because a connection broke."
    ),
)
idle_minutes = whole(
    "chat.idle_minutes",
    30,
    low=1,
    high=1_440,
    unit=_("minutes"),
    why=_("A conversation that rested this long is over and is remembered."),
    source="seed 001 §4",
)
idle_scan_seconds = whole(
    "idle_scanner.interval_seconds",
    60,
    low=60,
    high=3_600,
    unit=_("seconds"),
    why=_("How often the schedule looks for idle talks; django-q2 keeps whole minutes."),
    source="seed 001 §4",
)
longest_session_messages = whole(
    "chat.longest_session_messages",
    200,
    low=10,
    high=5_000,
    unit=_("messages"),
    why=_("A conversation without end is remembered in parts."),
    source="design/consolidation.md",
)
longest_session_tokens = whole(
    "chat.longest_session_tokens",
    20_000,
    low=1_000,
    high=500_000,
    unit=_("tokens"),
    why=_("A conversation without end is remembered in parts."),
    source="design/consolidation.md",
)
care_hold_hours = whole(
    "care.hold_hours",
    48,
    low=0,
    high=720,
    unit=_("hours"),
    why=_("After a message of crisis the companion does not write first for this long, and answers with it in mind."),
)
care_lines = whole(
    "care.lines",
    4,
    low=1,
    high=50,
    unit=_("lines of the user"),
    why=_("A crisis that the last few messages speak of is still what the conversation is about."),
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
