"""Knobs of memory: consolidation, recall, the slow cycle, importing."""

from django.utils.translation import gettext_lazy as _

from echovessel.knobs import knob, whole

# --- consolidation ------------------------------------------------------------------------------------------------
trivial_message_count = whole(
    "consolidate.trivial_message_count",
    3,
    low=0,
    high=100,
    unit=_("messages"),
    why=_("A session with fewer messages than this, few tokens and no strong word leaves nothing to remember."),
    source="seed 001 §10",
)
trivial_token_count = whole(
    "consolidate.trivial_token_count",
    200,
    low=0,
    high=10_000,
    unit=_("tokens"),
    why=_("The other half of the same gate: two long messages are worth reading."),
    source="seed 001 §10",
)
chunk_tokens = whole(
    "consolidate.chunk_tokens",
    6_000,
    low=200,
    high=100_000,
    unit=_("tokens"),
    why=_("A small model that is given more than this forgets the middle of it."),
    source="design/layers.md",
)
chunk_overlap_lines = whole(
    "consolidate.chunk_overlap_lines",
    4,
    low=0,
    high=50,
    unit=_("lines"),
    why=_("Chunks overlap by this much, so that a passage across a cut is still read in one piece."),
    source="design/layers.md",
)
similar_events = whole(
    "consolidate.similar_events",
    10,
    low=0,
    high=50,
    unit=_("memories"),
    why=_(
        "Known memories nearest to the conversation that the model sees, so that it repeats none and can correct one."
    ),
    source="design/consolidation.md",
)
known_tokens = whole(
    "consolidate.known_tokens",
    1_500,
    low=0,
    high=20_000,
    unit=_("tokens"),
    why=_(
        "The memories that the model sees with a session: core facts and open plans first. A "
        "memory that is not shown cannot be replaced."
    ),
    source="design/consolidation.md",
)
known_entities = whole(
    "consolidate.known_entities",
    40,
    low=0,
    high=500,
    unit=_("names"),
    why=_("Known names that the model sees, so that it spells them alike."),
)
extraction_tokens = whole(
    "consolidate.extraction_tokens",
    4_000,
    low=500,
    high=32_000,
    unit=_("tokens"),
    why=_("Room for three events and sixteen facts with their quotes, and for models that think before they write."),
)
events_per_chunk = whole(
    "consolidate.events_per_chunk",
    6,
    low=1,
    high=100,
    unit=_("events"),
    why=_(
        "The model is asked for at most three; if it returns dozens, the surplus is not trusted. "
        "The same limit applies to promises."
    ),
)
reflection_tokens = whole(
    "consolidate.reflection_tokens",
    2_000,
    low=200,
    high=32_000,
    unit=_("tokens"),
    why=_("Room for two impressions, and for models that think before they write."),
)
reinforce_cosine = knob(
    "consolidate.reinforce_cosine",
    0.92,
    low=0.5,
    high=1.0,
    unit=_("cosine"),
    why=_("A nearer memory is a candidate for being the same one, repeated."),
    source="seed 004",
)
reinforce_days = whole(
    "consolidate.reinforce_days",
    30,
    low=0,
    high=3_650,
    unit=_("days"),
    why=_("The same event after more than a month has happened again."),
    source="seed 004",
)
reflection_hard_gate_24h = whole(
    "consolidate.reflection_hard_gate_24h",
    3,
    low=0,
    high=100,
    unit=_("reflections"),
    why=_("Prevents a flood of thoughts on a day of many sessions. Takes precedence over shock and timer."),
    source="seed 000 C",
)
shock_impact = whole(
    "consolidate.shock_impact",
    8,
    low=1,
    high=10,
    unit=_("of 10"),
    why=_("A memory of this impact changes an impression immediately."),
    source="seed 000 C",
)
reflection_timer_hours = whole(
    "consolidate.reflection_timer_hours",
    24,
    low=1,
    high=720,
    unit=_("hours"),
    why=_("Impressions keep growing through quiet days as well."),
    source="seed 000 C",
)
reflection_events = whole(
    "consolidate.reflection_events",
    10,
    low=1,
    high=50,
    unit=_("events"),
    why=_("How many memories one reflection reads."),
    source="design/layers.md",
)
early_reading = whole(
    "consolidate.early_reading",
    1,
    low=0,
    high=1,
    unit=_("0 or 1"),
    why=_("A crisis message, or one to be remembered, does not wait until the session is idle; with 0 it does."),
    source="seed 003, design/turn.md",
)
early_reading_minutes = whole(
    "consolidate.early_reading_minutes",
    10,
    low=0,
    high=1_440,
    unit=_("minutes"),
    why=_("A session full of strong words is not read again for each of them: every reading costs a call."),
)
worker_poll_seconds = whole(
    "consolidate.worker_poll_seconds",
    5,
    low=1,
    high=300,
    unit=_("seconds"),
    why=_("How often `consolidate --wait` checks again for sessions that another worker or a pause holds back."),
    source="seed 001 §4",
)

# --- entities -----------------------------------------------------------------------------------------------------
same_score = knob(
    "entities.same_score",
    0.85,
    low=0.5,
    high=1,
    unit=_("relevance (1 - d/2)"),
    why=_("If the memories are this similar and one name is short for the other, the two are merged without asking."),
    source="design/consolidation.md; on tests/memory/entities/pairs.py no false merge",
)
ask_score = knob(
    "entities.ask_score",
    0.65,
    low=0.3,
    high=1,
    unit=_("relevance (1 - d/2)"),
    why=_("If the memories are this similar and the names could belong to one entity, the owner is asked."),
    source="design/consolidation.md",
)
clear_margin = knob(
    "entities.clear_margin",
    0.05,
    low=0,
    high=0.5,
    unit=_("relevance (1 - d/2)"),
    why=_("If two candidates are nearly equally likely, neither is chosen."),
)
least_alike_spelling = knob(
    "entities.least_alike_spelling",
    0.94,
    low=0.7,
    high=1,
    unit=_("likeness of each word as it sounds"),
    why=_("Jon and John sound alike; Daniel and Daniela (0.92), Gabriel and Gabriela (0.93) are two."),
    source="measured on tests/memory/entities/pairs.py, 2026-11",
)
entities_compared = whole(
    "entities.compared",
    12,
    low=1,
    high=200,
    unit=_("known entities"),
    why=_("A new name is compared with at most this many known entities, the likeliest first."),
)
memories_compared = whole(
    "entities.memories_compared",
    8,
    low=1,
    high=100,
    unit=_("memories"),
    why=_("The newest memories show who somebody is; each costs a comparison."),
)
most_asked = whole(
    "entities.most_asked",
    3,
    low=1,
    high=20,
    unit=_("proposals"),
    why=_("One new name raises at most this many questions."),
)
hint_hours = whole(
    "entities.hint_hours",
    24,
    low=1,
    high=8_760,
    unit=_("hours"),
    why=_("The persona asks about the same pair at most once a day."),
    source="design/consolidation.md",
)
pairs_in_question = whole(
    "entities.pairs_in_question",
    5,
    low=0,
    high=50,
    unit=_("pairs"),
    why=_("Open questions that the model sees when their names come up, so that it hears the answer."),
)

# --- recall -------------------------------------------------------------------------------------------------------
retrieve_k = whole(
    "memory.retrieve_k",
    10,
    low=1,
    high=200,
    unit=_("neighbours"),
    why=_("Each retriever fetches four times as many, at least 40, and more if the token budget holds more."),
    source="seed 001 §9, design/recall.md",
)
minimum_relevance = knob(
    "memory.minimum_relevance",
    0.4,
    low=0,
    high=1,
    unit=_("relevance (1 - d/2)"),
    why=_("Cosine 0.28: what is nearer to a right angle than this is unrelated."),
    source="seed 002",
)
companion_relevance = knob(
    "memory.companion_relevance",
    0.33,
    low=0,
    high=1,
    unit=_("relevance (1 - d/2)"),
    why=_("Once a memory is above the floor, memories near it may be recalled as well, without any bonus."),
    source="measured on MADial at 10, 2026-11",
)
answering_relevance = knob(
    "memory.answering_relevance",
    0.44,
    low=0,
    high=2,
    unit=_("cosine + 0.2 of the words in a memory + 0.2 of those in a memory or a message"),
    why=_(
        "A question that nothing stored can answer is still near some memory: if no memory fits "
        "better than this, none is recalled."
    ),
    source="measured on 60 unanswerable queries of our own and LoCoMo, 2026-11",
)
answering_relevance_of_talk = knob(
    "memory.answering_relevance_of_talk",
    0.43,
    low=0,
    high=3,
    unit=_("cosine + 0.8 of the words in a memory + 0.8 of those in a memory or a message"),
    why=_(
        "The same for several messages: some memory is similar to any conversation, and words "
        "are better evidence than meaning."
    ),
    source="measured on madial-en-1, madial-zh-1 and 120 sessions about nothing known, 2026-11",
)
answering_relevance_of_general = knob(
    "memory.answering_relevance_of_general",
    0.75,
    low=0,
    high=3,
    unit=_("cosine + 0.2 of the words in a memory + 0.2 of those in a memory or a message"),
    why=_(
        "A question about the world, or a request for a service, is about nobody's life: only "
        "memories that fit well are recalled."
    ),
    source="measured on 720 messages about nothing known and all queries of LoCoMo, MADial and our own, 2026-11",
)
answering_coverage = knob(
    "memory.answering_coverage",
    0.5,
    low=0,
    high=1,
    unit=_("share of the query's rare words"),
    why=_("A memory that contains half of the query word for word is recalled whatever its meaning."),
    source="measured on LoCoMo, 2026-11",
)
answering_coverage_unknown_script = knob(
    "memory.answering_coverage_unknown_script",
    0.28,
    low=0,
    high=1,
    unit=_("share of the query's rare words"),
    why=_("If the embedding model knows little of the language, only words show whether there is an answer."),
    source="measured on MADial and our own queries in Chinese, 2026-11",
)
minimum_coverage = knob(
    "memory.minimum_coverage",
    0.12,
    low=0,
    high=1,
    unit=_("share of the query's rare words"),
    why=_("The floor for verbatim messages: one rare word of a short question is enough, one common word is not."),
)
minimum_coverage_unknown_script = knob(
    "memory.minimum_coverage_unknown_script",
    0.2,
    low=0,
    high=1,
    unit=_("share of the query's rare words"),
    why=_("The same where words are not spaced and the model knows little of them: one shared character is no answer."),
    source="measured on our own queries in Chinese, 2026-11",
)
expire_days = whole(
    "memory.expire_days",
    30,
    low=1,
    high=36_500,
    unit=_("days"),
    why=_("A guess that nobody has confirmed or repeated within this time is not relied on."),
    source="design/forgetting.md",
)
settle_days = whole(
    "memory.settle_days",
    90,
    low=1,
    high=36_500,
    unit=_("days"),
    why=_(
        "A promise that was kept, or an expectation that was settled, longer ago than this is no "
        "longer on anybody's mind."
    ),
    source="design/forgetting.md",
)
archive_old = whole(
    "memory.archive_old",
    0,
    low=0,
    high=1,
    unit=_("0 or 1"),
    why=_(
        "With 1, memories older than 90 days with little impact that are hardly ever recalled "
        "are archived: recall no longer finds them. No other memories are."
    ),
    source="design/forgetting.md",
)
confirmed_weight = knob(
    "memory.confirmed_weight",
    0.1,
    low=0,
    high=10,
    unit=_("weight"),
    why=_(
        "Of two memories that fit equally, the one that somebody has confirmed comes first; the bonus is that small."
    ),
    source="seed 003",
)
recency_weight = knob(
    "memory.recency_weight",
    0.5,
    low=0,
    high=10,
    unit=_("weight"),
    why=_("Recency counts, but little."),
    source="seed 002",
)
relevance_weight = knob(
    "memory.relevance_weight",
    3.0,
    low=0,
    high=10,
    unit=_("weight"),
    why=_("Relevance has the greatest weight."),
    source="seed 002",
)
impact_weight = knob(
    "memory.impact_weight",
    2.0,
    low=0,
    high=10,
    unit=_("weight"),
    why=_("Memories with a strong impact stay near."),
    source="seed 002",
)
relational_bonus_weight = knob(
    "memory.relational_bonus_weight",
    1.0,
    low=0,
    high=10,
    unit=_("weight"),
    why=_("Memories that show who somebody is, or that are unresolved between the two, are preferred."),
    source="seed 001 §9",
)
anchor_weight = knob(
    "memory.anchor_weight",
    1.5,
    low=0,
    high=10,
    unit=_("weight"),
    why=_("A named entity raises the memories about it."),
    source="seed 000",
)
plain_sum = whole(
    "memory.plain_sum",
    0,
    low=0,
    high=1,
    unit=_("0 or 1"),
    why=_(
        "1 adds up the terms as the seeds did: a memory with a strong impact may then outrank a "
        "relevant one. For comparison."
    ),
    source="seeds 000 and 002",
)
recency_half_life_days = knob(
    "memory.recency_half_life_days",
    14,
    low=0.1,
    high=3_650,
    unit=_("days"),
    why=_("Counted from the creation of a memory; recalling it never refreshes it."),
    source="seed 002",
)
turn_decay = knob(
    "memory.turn_decay",
    0.8,
    low=0,
    high=1,
    unit=_("weight per message back"),
    why=_("The last message is the question; the ones before it are its context. The design's 0.6 finds less."),
    source="measured on MADial at 10, 2026-11: en 0.735 -> 0.766, zh 0.622 -> 0.642",
)
dense_share_known_script = knob(
    "memory.dense_share_known_script",
    0.7,
    low=0,
    high=1,
    unit=_("share of relevance"),
    why=_("The share of meaning against words, if the embedding model knows the language of the query."),
    source="measured on LoCoMo, 2026-11",
)
dense_share_unknown_script = knob(
    "memory.dense_share_unknown_script",
    0.15,
    low=0,
    high=1,
    unit=_("share of relevance"),
    why=_("all-MiniLM-L6-v2 was trained on little Chinese: there words must have the greater weight."),
    source="measured on MADial, 2026-11",
)
adjacent_weight = knob(
    "memory.adjacent_weight",
    0.4,
    low=0,
    high=2,
    unit=_("of the better neighbour's score"),
    why=_("An answer rarely repeats the words of its question."),
    source="design/recall.md",
)
pair_weight = knob(
    "memory.pair_weight",
    0.3,
    low=0,
    high=2,
    unit=_("of the score of the message with the one before"),
    why=_("A question and its answer belong together."),
    source="design/recall.md",
)
session_weight = knob(
    "memory.session_weight",
    0.5,
    low=0,
    high=2,
    unit=_("of the session's score"),
    why=_("Messages of a conversation about the matter are likelier to be about it."),
    source="measured on LoCoMo, 2026-11: 0.918 -> 0.920; design/recall.md says 0.4",
)
passage_scale = knob(
    "memory.passage_scale",
    0.85,
    low=0.1,
    high=2,
    unit=_("best passage : best node"),
    why=_("Puts passages and nodes on one scale; a distilled memory costs fewer tokens than the words."),
    source="measured on LoCoMo, 2026-11",
)
passage_lines = whole(
    "memory.passage_lines",
    4,
    low=1,
    high=20,
    unit=_("lines"),
    why=_("Consecutive messages are shown as one passage, up to this many."),
    source="measured on LoCoMo, 2026-11",
)
fall_off = knob(
    "memory.fall_off",
    0.2,
    low=0,
    high=1,
    unit=_("of the best score"),
    why=_("A few good memories beat a full budget: memories this much weaker than the best only distract."),
    source="design/recall.md",
)
alike_cosine = knob(
    "memory.alike_cosine",
    0.86,
    low=0.5,
    high=1,
    unit=_("cosine"),
    why=_(
        "Of two memories that would be recalled together and are nearer than this, one is left "
        "out, unless it has a name, a number, a day or a relative that the other lacks."
    ),
    source="measured on LoCoMo, 2026-11: near-duplicates among the chosen tokens from 4.1 to 0.4 percent",
)
rerank_candidates = whole(
    "memory.rerank_candidates",
    30,
    low=2,
    high=200,
    unit=_("memories and messages"),
    why=_("This many of the best candidates go to a reranker, if one is set up; its time grows with their number."),
)
thoughts_about_them = whole(
    "memory.thoughts_about_them",
    10,
    low=0,
    high=100,
    unit=_("thoughts"),
    why=_("The companion's thoughts about the user are part of every turn, whatever the question is."),
    source="design/recall.md",
)
thoughts_about_yourself = whole(
    "memory.thoughts_about_yourself",
    5,
    low=0,
    high=100,
    unit=_("thoughts"),
    why=_("The companion's latest thoughts about itself."),
    source="design/recall.md",
)
open_ones_shown = whole(
    "memory.open_ones_shown",
    10,
    low=0,
    high=100,
    unit=_("promises, expectations"),
    why=_("The next due first; more would crowd out the conversation."),
)
lesson_tokens = whole(
    "memory.lesson_tokens",
    300,
    low=0,
    high=5_000,
    unit=_("tokens"),
    why=_(
        "The part of a prompt that the owner's wishes may fill: some twenty wishes, those that fit the moment first."
    ),
)
lesson_cosine = knob(
    "memory.lesson_cosine",
    0.38,
    low=0,
    high=1,
    unit=_("cosine"),
    why=_("A wish whose condition is this near to the message may apply now; the prompt shows it with its condition."),
)
always_known_tokens = whole(
    "memory.always_known_tokens",
    400,
    low=0,
    high=10_000,
    unit=_("tokens"),
    why=_(
        "The part of every prompt for memories that are pinned, requested, or about health, safety or who the owner is."
    ),
)
words_in_memory_mb = whole(
    "memory.words_in_memory_mb",
    200,
    low=0,
    high=100_000,
    unit=_("MB"),
    why=_(
        "10,000 memories and 30,000 messages take 24 MB; recall with this cache takes half the "
        "time. One persona is always cached."
    ),
)
vectors_in_memory_mb = whole(
    "memory.vectors_in_memory_mb",
    256,
    low=0,
    high=65_536,
    unit=_("MB in each process"),
    why=_(
        "The vectors of active personas are searched in memory: 1.5 MB for a thousand memories. "
        "A persona with more than this is searched through the database, more slowly and not "
        "quite exactly."
    ),
    source="measured 2026-11-21: 100,000 memories 8 ms in memory, 50 ms through the database",
)
rare_word_messages = whole(
    "memory.rare_word_messages",
    5,
    low=0,
    high=100,
    unit=_("messages"),
    why=_(
        "A word that occurs in more messages of other sessions than this is no sign that they "
        "are about what is being forgotten; with 0 only names and identical words are listed."
    ),
    source="design/forgetting.md",
)
vacuum_at_once_mb = whole(
    "memory.vacuum_at_once_mb",
    256,
    low=0,
    high=100_000,
    unit=_("MB of the database file"),
    why=_(
        "Forgotten bytes are erased by rewriting every page of the database: 8 s for a gigabyte, "
        "during which nothing else can be written. Up to this size it is done immediately and in "
        "memory, above it by a job and through a file."
    ),
    source="measured 2026-11-21: 265 MB 2 s",
)
entities_shown = whole(
    "memory.entities_shown",
    5,
    low=0,
    high=50,
    unit=_("entities"),
    why=_("At most this many of the named entities are described."),
)

# --- open items ---------------------------------------------------------------------------------------------------
expectation_grace_days = whole(
    "memory.expectation_grace_days",
    3,
    low=0,
    high=3_650,
    unit=_("days after its day"),
    why=_("Somebody who had an interview on Friday tells about it on Monday; after that nobody expects to hear of it."),
)
promise_grace_days = whole(
    "memory.promise_grace_days",
    7,
    low=0,
    high=3_650,
    unit=_("days after its day"),
    why=_("A promise stays open longer than an expectation: it can still be kept late."),
)
undated_expectation_days = whole(
    "memory.undated_expectation_days",
    30,
    low=1,
    high=3_650,
    unit=_("days after it was last mentioned"),
    why=_("An item without a day would be in every prompt for ever."),
    source="design/layers.md",
)
match_cosine = knob(
    "memory.match_cosine",
    0.38,
    low=0,
    high=1,
    unit=_("cosine"),
    why=_(
        "An expectation this near to the current message may be its topic: this holds for 14 of "
        "19 messages about it, and for 1 of 350 about other things."
    ),
    source="measured on our own pairs, 2026-11",
)

# --- slow cycle ---------------------------------------------------------------------------------------------------
slow_cycle_rest_minutes = whole(
    "slow_cycle.rest_minutes",
    30,
    low=0,
    high=10_080,
    unit=_("minutes"),
    why=_("Between two runs; a shock or a correction does not wait for it."),
    source="design/consolidation.md",
)
slow_cycle_runs_per_day = whole(
    "slow_cycle.runs_per_day",
    36,
    low=0,
    high=1_440,
    unit=_("runs of a persona in a day of UTC"),
    why=_("With 0 the companion does not think between conversations."),
    source="design/consolidation.md",
)
slow_cycle_boundaries = whole(
    "slow_cycle.boundaries",
    12,
    low=0,
    high=200,
    unit=_("wishes"),
    why=_("The topics that the owner wants left alone are in the prompt; results about them are dropped all the same."),
)
slow_cycle_tokens_in_per_day = whole(
    "slow_cycle.tokens_in_per_day",
    150_000,
    low=0,
    high=100_000_000,
    unit=_("tokens of a persona in a day of UTC"),
    why=_("A hard limit: no run begins that could exceed it. Failed runs count, because they were paid for as well."),
    source="design/consolidation.md",
)
slow_cycle_tokens_out_per_day = whole(
    "slow_cycle.tokens_out_per_day",
    30_000,
    low=0,
    high=100_000_000,
    unit=_("tokens of a persona in a day of UTC"),
    why=_("The same limit for the tokens that the model writes."),
    source="design/consolidation.md",
)
slow_cycle_run_tokens = whole(
    "slow_cycle.run_tokens",
    8_000,
    low=4_000,
    high=200_000,
    unit=_("tokens"),
    why=_("All prompts of a run, each with its longest possible answer; inputs that do not fit wait for the next run."),
    source="design/consolidation.md",
)
slow_cycle_answer_tokens = whole(
    "slow_cycle.answer_tokens",
    1_500,
    low=200,
    high=2_000,
    unit=_("tokens"),
    why=_("Three questions, three thoughts, two expectations and some outcomes take about half of it."),
)
slow_cycle_first_days = whole(
    "slow_cycle.first_days",
    7,
    low=1,
    high=3_650,
    unit=_("days"),
    why=_("How far back the first run looks, and any run among memories restored from an archive."),
    source="design/consolidation.md",
)
slow_cycle_thoughts = whole(
    "slow_cycle.thoughts",
    5,
    low=0,
    high=50,
    unit=_("thoughts"),
    why=_("The newest ones, so that the companion does not think the same again."),
    source="design/consolidation.md",
)
slow_cycle_awaited = whole(
    "slow_cycle.awaited",
    20,
    low=0,
    high=200,
    unit=_("promises and expectations"),
    why=_("The next due first: items that new memories may settle."),
)
slow_cycle_questions = whole(
    "slow_cycle.questions",
    10,
    low=0,
    high=100,
    unit=_("questions"),
    why=_("The newest open ones come back in every run."),
)
slow_cycle_question_days = whole(
    "slow_cycle.question_days",
    14,
    low=1,
    high=3_650,
    unit=_("days"),
    why=_("A question without an answer by then has lost its point; a settled one is not asked again for as long."),
)
slow_cycle_entities = whole(
    "slow_cycle.entities",
    3,
    low=0,
    high=20,
    unit=_("descriptions a run"),
    why=_("A bounded second step: each is a call of its own."),
    source="design/consolidation.md",
)
slow_cycle_entity_least_events = whole(
    "slow_cycle.entity_least_events",
    3,
    low=1,
    high=100,
    unit=_("events"),
    why=_("With fewer memories of an entity, a description could add nothing to them."),
    source="design/consolidation.md",
)
slow_cycle_entity_events = whole(
    "slow_cycle.entity_events",
    10,
    low=1,
    high=100,
    unit=_("events"),
    why=_("The newest memories show who somebody is now."),
)
slow_cycle_entity_tokens = whole(
    "slow_cycle.entity_tokens",
    400,
    low=100,
    high=4_000,
    unit=_("tokens"),
    why=_("400 characters of Chinese are 300 tokens, and the ids that they rest on."),
)
thread_lines = whole(
    "slow_cycle.threads",
    8,
    low=0,
    high=50,
    unit=_("story lines"),
    why=_("The story lines with the newest memories: a new memory may continue one of them."),
)
thread_earlier = whole(
    "slow_cycle.earlier",
    12,
    low=0,
    high=100,
    unit=_("memories"),
    why=_("The memories without a story line that are nearest to the new ones: together they may form one."),
)
thread_gap_days = whole(
    "slow_cycle.thread_gap_days",
    60,
    low=1,
    high=3_650,
    unit=_("days"),
    why=_("Memories further apart belong to different matters, unless a model says otherwise."),
)
thread_cosine = knob(
    "slow_cycle.thread_cosine",
    0.45,
    low=0,
    high=1,
    unit=_("cosine"),
    why=_(
        "Two memories about the same kind of matter that are nearer than this belong to one "
        "story line. Memories that belong together have a cosine of 0.53, unrelated ones of 0.25."
    ),
    source="measured on the sets of memory/evaluation, 2026-11",
)

# --- importing ----------------------------------------------------------------------------------------------------
import_upload_megabytes = whole(
    "import.upload_megabytes",
    512,
    low=1,
    high=2_048,
    unit=_("MB"),
    why=_(
        "Years of conversation are 200 MB. During the upload a file is on the disk three times; "
        "use the command for a larger one."
    ),
    source="design/formats.md",
)
import_events_per_piece = whole(
    "import.events_per_piece",
    16,
    low=1,
    high=200,
    unit=_("events"),
    why=_(
        "A chunk of a diary holds a dozen entries, and the model is asked for at most twelve "
        "events; if it returns many more, the surplus is not trusted."
    ),
)
import_thoughts_per_piece = whole(
    "import.thoughts_per_piece",
    3,
    low=0,
    high=50,
    unit=_("thoughts"),
    why=_("The writer's own conclusions, if the text states them; more would be the model's own guesses."),
)
import_sample_tokens = whole(
    "import.sample_tokens",
    12_000,
    low=500,
    high=100_000,
    unit=_("tokens"),
    why=_(
        "Drafts are written from a sample of the messages: one request, however many years of conversation there are."
    ),
)
import_sample_talks = whole(
    "import.sample_talks",
    40,
    low=1,
    high=500,
    unit=_("talks"),
    why=_(
        "Sessions spread over the whole time, each with its beginning (some 150 tokens), so that "
        "changes in people are noticed."
    ),
)
import_drafts_tokens = whole(
    "import.drafts_tokens",
    4_000,
    low=500,
    high=32_000,
    unit=_("tokens"),
    why=_("Room for two dozen drafts with their quotes, and for models that think before they write."),
)
import_drafts_per_block = whole(
    "import.drafts_per_block",
    8,
    low=1,
    high=50,
    unit=_("drafts"),
    why=_("As many as a person reads through with care."),
)

import_gap_hours = whole(
    "import.gap_hours",
    6,
    low=1,
    high=8_760,
    unit=_("hours"),
    why=_("A pause of this length ends a conversation; the messages after it are remembered as another one."),
)
import_entry_tokens = whole(
    "import.entry_tokens",
    3_000,
    low=200,
    high=20_000,
    unit=_("tokens"),
    why=_("Short entries of a diary within a week are read together, up to this much: each reading costs a call."),
)
import_slice_seconds = whole(
    "import.slice_seconds",
    60,
    low=1,
    high=300,
    unit=_("seconds"),
    why=_("An import yields the job worker this often: a session that has just ended waits no longer than this."),
)
import_answer_days = whole(
    "import.answer_days",
    30,
    low=1,
    high=3_650,
    unit=_("days"),
    why=_("An uploaded file waits this long for somebody to say who is who; then it is deleted unread."),
)
