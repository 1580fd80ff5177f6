"""A provider that answers with recorded replies of a capable model, so that the pipeline can be measured without one.

The replies of a story are stored in `replies/<story>.json`, by session, purpose and number, with a fingerprint of the
prompt that each answers. Ids differ between runs: in a recording, a message is identified by its name in the story
("s2.3"), and anything else that the prompt lists, such as a known memory, by the letter of its id and its words.

A reply to another prompt than today's measures nothing. It is `outdated`, and must be requested again.
"""

import hashlib
import json
import re
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.test.utils import override_settings

from chat.models import Message
from echovessel.llm.errors import LLMError
from echovessel.llm.providers import Models, Provider
from echovessel.llm.request import Request, ResponseSchema, StreamEnd, Usage
from memory.evaluation.stories import Story

FOLDER = Path(__file__).parent / "replies"
PATH = "memory.evaluation.reply_recording.RecordedProvider"
# Not measured here: no thoughts are generated, and no person is described.
UNASKED: Mapping[str, Mapping[str, Any]] = {"reflection": {"thoughts": []}, "slow_cycle": {"thoughts": []}}
_ID = re.compile(r"\[([a-z])(\d+)\]")
_CITED = re.compile(r"\[?([a-z]\d+|s\d+\.\d+)\]?")


class Unrecorded(LLMError):
    """No reply is recorded for this prompt."""


@dataclass
class Recording:
    """The replies of one story during its run. `inbox` is a folder from which new replies are read, and to which
    prompts without a reply are written."""

    story: Story
    messages: Mapping[str, Message]
    path: Path
    inbox: Path | None = None
    replies: dict[str, dict[str, Any]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    outdated: list[str] = field(default_factory=list)
    changed_input: list[str] = field(default_factory=list)
    counts: dict[tuple[str, str], int] = field(default_factory=dict)

    def answer(self, request: Request, shape: ResponseSchema) -> str:
        """The recorded reply with the ids of this run. Raises Unrecorded."""
        line_names = {message.pk: name for name, message in self.messages.items()}
        keys = (int(number) for letter, number in _ID.findall(request.user) if letter == "m")
        shown_lines = [line_names[key] for key in keys if key in line_names]
        session = shown_lines[-1].split(".")[0] if shown_lines else "s0"
        number = self.counts[session, request.purpose] = self.counts.get((session, request.purpose), 0) + 1
        name = f"{session}.{request.purpose}.{number}"
        # The words after each id that is not a message's.
        items = re.finditer(r"^[-* ]*\[([a-z])(\d+)\] ?(.*)$", request.user, re.MULTILINE)
        listed_words = {match[1] + match[2]: match[3] for match in items if match[1] != "m"}
        ids = {line_name: f"m{pk}" for pk, line_name in line_names.items()}
        user = _ID.sub(lambda match: f"[{_name_of(match, line_names, listed_words)}]", request.user)
        prints = {"rules": _fingerprint(request.system), "input": _fingerprint(user)}
        if self.inbox and self.replies.get(name, {}).get("prints") != prints:
            self._take(
                name, prints, f"{request.system}\n\n{user}\n\n# JSON schema\n{json.dumps(shape.schema)}\n", listed_words
            )
        stored_reply = self.replies.get(name)
        if stored_reply is None:
            self.missing.append(name)
            raise Unrecorded(f"{self.story.id} has no reply for {name}", code="provider_unavailable", permanent=True)
        if stored_reply["prints"]["rules"] != prints["rules"]:
            self.outdated.append(name)
        elif stored_reply["prints"] != prints:
            self.changed_input.append(name)
        now_at = {words: key for key, words in listed_words.items()}
        ids |= {key: now_at[words] for key, words in stored_reply["listed"].items() if words in now_at}
        return json.dumps(
            _with_ids(stored_reply["answer"], lambda reference: ids.get(reference, "none")), ensure_ascii=False
        )

    def _take(self, name: str, prints: dict[str, str], prompt: str, listed_words: Mapping[str, str]) -> None:
        """Record the reply in the inbox, or write the prompt there."""
        assert self.inbox is not None
        reply = self.inbox / f"{self.story.id}.{name}.{prints['rules'][:6]}{prints['input'][:6]}.reply.json"
        if not reply.exists():
            self.replies.pop(name, None)
            reply.with_name(reply.name.replace(".reply.json", ".prompt.txt")).write_text(prompt, encoding="utf-8")
            return
        answer = json.loads(reply.read_text(encoding="utf-8"))
        cited_keys: set[str] = set()
        _with_ids(answer, lambda reference: cited_keys.add(reference) or reference)  # type: ignore[func-returns-value]
        # The same words with ids that count from 1.
        counted_words = {
            f"{key[0]}{number}": words for number, (key, words) in enumerate(listed_words.items(), start=1)
        }
        cited_words = {key: words for key, words in counted_words.items() if key in cited_keys}
        self.replies[name] = {"prints": prints, "listed": cited_words, "answer": answer}
        text = json.dumps(dict(sorted(self.replies.items())), ensure_ascii=False, indent=1)
        self.path.write_text(text + "\n", encoding="utf-8")


_current: list[Recording] = []


@contextmanager
def replayed(
    story: Story, messages: Mapping[str, Message], folder: Path = FOLDER, inbox: Path | None = None
) -> Iterator[Recording]:
    """Inside this context the replies of the story replace the model. `messages` are its messages so far, by name."""
    path = folder / f"{story.id}.json"
    replies = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    _current.append(Recording(story, messages, path, inbox, replies))
    try:
        with override_settings(LLM_PROVIDER=PATH):
            yield _current[-1]
    finally:
        _current.pop()


class RecordedProvider(Provider):
    name = "recorded"
    defaults = Models("recorded", "recorded", "recorded")

    async def stream(
        self, request: Request, shape: ResponseSchema | None = None
    ) -> AsyncGenerator[str | StreamEnd, None]:
        if shape is None:
            raise LLMError("a story brings its replies", code="provider_unavailable", permanent=True)
        unasked = UNASKED.get(request.purpose)
        yield json.dumps(unasked) if unasked is not None else _current[-1].answer(request, shape)
        yield StreamEnd("stop", Usage(estimated=True))


def _name_of(match: re.Match[str], line_names: Mapping[int, str], listed_words: Mapping[str, str]) -> str:
    letter, number = match[1], int(match[2])
    if letter == "m":
        return line_names.get(number, "s0.0")
    key = f"{letter}{number}"
    return f"{letter}{list(listed_words).index(key) + 1}" if key in listed_words else key


def _with_ids(value: Any, rename: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {key: _with_ids(part, rename) for key, part in value.items()}
    if isinstance(value, list):
        return [_with_ids(part, rename) for part in value]
    reference = _CITED.fullmatch(value) if isinstance(value, str) else None
    return rename(reference[1]) if reference else value


def _fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
