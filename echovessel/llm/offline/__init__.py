"""A provider without a model, key or network: the first run must show what remembering is.

It reads `Request.material` instead of the prompt. The same material gives the same words.

    chat        {"language": "en"|"zh", "persona_name", "user_name", "lines": [str],
                 "recollections": [{"text", "layer": "L2"|"L3"|"L4",
                                    "speaker": "user"|"persona"|None}], best first,
                 "recent": [{"role": "user"|"persona", "content"}]}
    extraction  {"language", "persona_name", "user_name", "now": iso, "timezone",
                 "lines": [{"id", "role": "user"|"persona", "content", "at": iso,
                            "read": true where it is context only}],
                 "known": [{"id", "description"}] events, nearest first (may be absent),
                 "known_entities": [{"name", "kind"}] (may be absent),
                 "pairs_in_question": [[name, name]] (may be absent)}
    reflection  {"language", "persona_name", "user_name",
                 "events": [{"id", "description", "emotional_impact"}]}
"""
