"""Through how many files and functions of ours a message, a memory and a forgetting go.

    python -m tests.walks            the three walks: files and functions, with the aim beside
    python -m tests.walks --files    every file of each walk with its functions, and which files only hand over

What is counted: each function that runs at least once, in files of `echovessel`, `persona`, `chat`, `memory` and
`proactive`; a comprehension or lambda belongs to its function, and migrations are no part of a walk. What is set up
before a walk, a sign-in or an open page, is not counted.
"""

import asyncio
import inspect
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("echovessel", "persona", "chat", "memory", "proactive")
# A function of so few lines that is alone in its file hands over.
THIN_LINES = 6
# Until what a page begins by itself is over, on a busy machine, too.


@dataclass
class Walk:
    """The code that ran, by file."""

    codes: set[CodeType] = field(default_factory=set)

    def by_file(self) -> dict[str, list[CodeType]]:
        files: defaultdict[str, list[CodeType]] = defaultdict(list)
        for code in self.codes:
            path = Path(code.co_filename)
            if path.is_relative_to(ROOT) and not code.co_name.startswith("<"):
                package, *inner = path.relative_to(ROOT).parts
                if package in PACKAGES and "migrations" not in inner:
                    files["/".join((package, *inner))].append(code)
        return dict(sorted(files.items()))

    def counts(self) -> tuple[int, int]:
        """Files and functions."""
        files = self.by_file()
        return len(files), sum(map(len, files.values()))

    def thin_files(self) -> list[str]:
        """Files that are only passed through: one short function of each is run."""
        return [file for file, codes in self.by_file().items() if len(codes) == 1 and _lines(codes[0]) <= THIN_LINES]

    @contextmanager
    def traced(self) -> Iterator[None]:
        """Note what runs while this lasts, in this thread and those that start meanwhile."""
        from echovessel.process import threads  # noqa: PLC0415  (after django.setup)

        def note(frame: FrameType, event: str, _argument: object) -> None:
            if event == "call":
                self.codes.add(frame.f_code)

        threads.renew_pool()  # its threads began before
        threading.setprofile(note)
        sys.setprofile(note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
            threads.renew_pool()


def _lines(code: CodeType) -> int:
    return len(inspect.getsourcelines(code)[0])


# Files and functions of 2026-11, before the house was put in order; three fifths of them are the aim.
BEFORE: Mapping[str, tuple[int, int | None]] = {
    "a message with memory off": (47, 285),
    "a message that a later session recalls": (118, 1_004),
    "a memory that is forgotten": (26, None),
}


def walks() -> dict[str, Walk]:
    """Go all three, in the database that is open; it is filled."""
    from django.contrib.auth.models import User  # noqa: PLC0415
    from django.test import override_settings  # noqa: PLC0415

    from persona.onboarding.creation import create_persona  # noqa: PLC0415
    from tests.scripted import script  # noqa: PLC0415

    knobs = {"chat.debounce_seconds": 0, "outbox.poll_seconds": 0.02}
    persona = create_persona(User.objects.create_user("walker"), "Mira", user_name="Ana")
    script.reset()
    with override_settings(LLM_PROVIDER="tests.memory.sessions.ListeningProvider", KNOBS=knobs):
        gone = [steps(persona) for steps in (message_without_memory, message_that_is_recalled, forgotten_memory)]
    script.reset()
    return dict(zip(BEFORE, gone, strict=True))


def message_without_memory(persona: Any) -> Walk:
    """From the frame of the page until the reply is stored."""
    from django.conf import settings  # noqa: PLC0415
    from django.test import override_settings  # noqa: PLC0415

    sections = [path for path in settings.CHAT_CONTEXT if not path.startswith("memory.")]
    walk = Walk()
    with override_settings(CHAT_CONTEXT=sections, CHAT_BEFOREHAND=[], CHAT_ANSWERS=[], CHAT_AFTERWARDS=[]):
        said_and_answered(walk, persona, "Good evening.")
    return walk


def message_that_is_recalled(persona: Any) -> Walk:
    """It is told, the session is closed and consolidated, and in the next session a question brings it up."""
    from django.utils import timezone  # noqa: PLC0415

    from chat.models import Session  # noqa: PLC0415
    from chat.sessions import close  # noqa: PLC0415
    from memory import tasks  # noqa: PLC0415
    from tests.memory.sessions import cite, event, extraction  # noqa: PLC0415
    from tests.scripted import script  # noqa: PLC0415

    walk = Walk()
    said_and_answered(walk, persona, "My boat is called Petrel.")
    session = persona.sessions.get(status=Session.Status.OPEN)
    message = session.messages.filter(role="user").last()
    script.answers(extraction([event("Ana's boat is called Petrel.", cite(message))], session_summary=""))
    with walk.traced():
        close.close(session, Session.CloseReason.EXPLICIT, timezone.now())
        outcome = tasks.consolidate_session(session.pk)
    assert outcome == "closed", outcome
    said_and_answered(walk, persona, "What is the name of my boat?")
    assert "Petrel" in script.requests[-1].user.split("# Recent conversation")[0], "it was not recalled"
    return walk


def forgotten_memory(persona: Any) -> Walk:
    """From the plan to the receipt that says that nothing is left."""
    from django.utils import timezone  # noqa: PLC0415

    from memory import forgetting  # noqa: PLC0415

    walk = Walk()
    node = persona.nodes.get(kind="event")
    with walk.traced():
        plan = forgetting.plan([forgetting.Target("node", node.pk)])
        receipt = forgetting.forget(plan, None, timezone.now())
    assert receipt.status == receipt.Status.DONE, receipt.status
    assert not persona.nodes.filter(pk=node.pk).exists()
    return walk


def said_and_answered(walk: Walk, persona: Any, text: str) -> None:
    """A message of a page that has been open for a while, until its reply is stored."""
    from tests.page import Page  # noqa: PLC0415
    from tests.turns import settled  # noqa: PLC0415

    async def converse() -> None:
        async with Page(persona.owner, persona) as page:
            await page.say("Hello.")
            await page.until("chat.message.done")
            await settled()
            with walk.traced():
                await page.say(text)
                await page.until("chat.message.done")
                await settled()

    asyncio.run(converse())


def format_table(gone: Mapping[str, Walk]) -> Iterator[str]:
    yield f"{'walk':42}{'files':>6}{'aim':>6}{'functions':>12}{'aim':>6}"
    for name, walk in gone.items():
        files, functions = walk.counts()
        aims = ["-" if before is None else str(before * 3 // 5) for before in BEFORE[name]]
        yield f"{name:42}{files:>6}{aims[0]:>6}{functions:>12}{aims[1]:>6}"


def format_files(gone: Mapping[str, Walk]) -> Iterator[str]:
    for name, walk in gone.items():
        yield f"\n{name}"
        for file, codes in walk.by_file().items():
            yield f"  {file}: {', '.join(sorted(code.co_qualname for code in codes))}"
        yield f"  only passed through: {', '.join(walk.thin_files())}"


def main(print_line: Callable[[str], Any] = lambda line: sys.stdout.write(f"{line}\n")) -> None:
    import django  # noqa: PLC0415

    django.setup()
    from django.test.utils import setup_test_environment  # noqa: PLC0415

    from echovessel.db.sqlite.temporary import temporary_database  # noqa: PLC0415
    from tests import hash_embedder, template_database  # noqa: PLC0415

    setup_test_environment()
    hash_embedder.install()
    template_database.install()
    with temporary_database():
        gone = walks()
    for line in format_table(gone):
        print_line(line)
    if "--files" in sys.argv:
        for line in format_files(gone):
            print_line(line)


if __name__ == "__main__":
    import os

    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    main()
