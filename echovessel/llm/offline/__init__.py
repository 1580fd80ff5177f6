"""A provider without a model, key or network: the first run must show what remembering is.

It reads `Request.material` instead of the prompt. The same material gives the same words.

    chat        {"language": "en"|"zh", "persona_name", "user_name", "lines": [str],
                 "recollections": [{"text", "layer": "L2"|"L3"|"L4",
                                    "speaker": "user"|"persona"|None}], best first,
                 "recent": [{"role": "user"|"persona", "content"}],
                 "crisis": true where the user was in despair lately (may be absent)}
    extraction  {"language", "persona_name", "user_name", "now": iso, "timezone",
                 "lines": [{"id", "role": "user"|"persona", "content", "at": iso,
                            "read": true where it is context only}],
                 "known": [{"id", "description"}] events, nearest first (may be absent),
                 "known_entities": [{"name", "kind"}] (may be absent),
                 "pairs_in_question": [[name, name]] (may be absent)}
    reflection  {"language", "persona_name", "user_name",
                 "events": [{"id", "description", "emotional_impact"}]}
    slow_cycle  {"language", "persona_name", "user_name", "now": iso, "timezone",
                 "events": [{"id", "description", "emotional_impact", "relational_tags": [str],
                             "event_time": {"start", "end"} or null, "told_at": iso}], the new ones, oldest first,
                 "thoughts": [{"id", "description"}],
                 "awaited": [{"id", "kind": "expectation"|"intention", "description", "due": day or null}],
                 "questions": [{"id", "text"}]}
    entity      {"language", "persona_name", "user_name", "name", "kind", "description",
                 "events": [{"id", "description", "emotional_impact"}]}, oldest first
    proactive   {"language", "persona_name", "user_name", "today": day,
                 "trigger": "promise"|"shock"|"expectation"|"silence",
                 "about": what it is about or "", "about_day": day or null,
                 "recollections", "recent": as in chat (may be absent)}
    import      as extraction, with "dated": false where nobody knows the days, and "prose": true where it is no talk;
                 lines of others have the role "system", and "others" are their names where they talk with the user
                 and the persona takes no part
    onboarding  {"language", "persona_name", "user_name", "lines": [{"id", "role", "content", "at": iso,
                 "others": [str] to whom it was said where the persona took no part (may be absent)}]}
"""
