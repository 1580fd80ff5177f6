"""Language models: streamed text, structured answers, and a ledger of every call.

    from echovessel import llm
    async for piece in llm.stream(request): ...
    answer = await llm.answer(request, Schema)      # from async code
    answer = llm.answer_now(request, Schema)        # from jobs and commands

Importing this package loads no Django models, so it may be imported before the apps are ready.
"""

from echovessel.llm.errors import AnswerUnreadable, LLMError
from echovessel.llm.gateway import answer, answer_now, stream
from echovessel.llm.providers import provider_name
from echovessel.llm.reasoning import Withdrawal
from echovessel.llm.request import Answer, CutOff, Reply, ReplyStore, Request, Thinking, Usage

__all__ = [
    "Answer",
    "AnswerUnreadable",
    "CutOff",
    "LLMError",
    "Reply",
    "ReplyStore",
    "Request",
    "Thinking",
    "Usage",
    "Withdrawal",
    "answer",
    "answer_now",
    "provider_name",
    "stream",
]
