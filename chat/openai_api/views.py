"""`/v1/models` and `/v1/chat/completions`, as clients of OpenAI know them. Authentication is by token alone, never by a
login: no page of another site can ask in somebody's name, and no CSRF token is needed."""

import json
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt

from chat.openai_api import errands, names
from chat.openai_api.errand_replies import ErrandReply
from chat.openai_api.errors import CompletionRefused, of_turn
from chat.openai_api.merge import refuse_merged
from chat.openai_api.receive import quotes_the_session
from chat.openai_api.reply import Reply
from chat.openai_api.requests import parse_request
from chat.socket.sse import CONTENT_TYPE, HEARTBEAT, UNBUFFERED
from chat.turns import runner
from echovessel.api.tokens import bearer
from echovessel.llm import Withdrawal
from echovessel.process import redaction
from echovessel.process.threads import in_thread
from echovessel.web.admission import Login
from persona.models import Persona

logger = logging.getLogger(__name__)

AnyReply = Reply | ErrandReply

LONGEST_KEY = 255


@csrf_exempt
@login_not_required
def models(request: HttpRequest) -> JsonResponse:
    """The caller's personas."""
    try:
        models = names.models_of(_caller(request, "GET"))
    except CompletionRefused as error:
        return error.answer()
    return JsonResponse({"object": "list", "data": [names.as_model(*model) for model in models.items()]})


@csrf_exempt
@login_not_required
def model(request: HttpRequest, name: str) -> JsonResponse:
    """One persona of the caller's."""
    try:
        return JsonResponse(names.as_model(name, _find_persona(_caller(request, "GET"), name)))
    except CompletionRefused as error:
        return error.answer()


@csrf_exempt
@login_not_required
async def completions(request: HttpRequest) -> HttpResponseBase:
    """The reply to the new messages of the request, whole or in chunks."""
    try:
        reply = await in_thread(_reply_to, request)
        runner.get_runner().watch()
        if not reply.request.stream:
            async with aclosing(reply.pieces()) as pieces:
                text = ""
                async for piece in pieces:
                    text = reply.preface if isinstance(piece, Withdrawal) else text + (piece or "")
            message = {"role": "assistant", "content": text, "refusal": None}
            choice = {"index": 0, "message": message, "finish_reason": _finish_reason(reply), "logprobs": None}
            usage = await reply.usage()
            return JsonResponse(_head(reply, "chat.completion") | {"choices": [choice], "usage": usage.as_json()})
        # The response begins with the first piece, so that an error before it has a status of its own.
        pieces = reply.pieces()
        first = await anext(pieces, None)
        return StreamingHttpResponse(_chunks(reply, first, pieces), content_type=CONTENT_TYPE, headers=UNBUFFERED)
    except CompletionRefused as error:
        return error.answer()
    except Exception as error:  # noqa: BLE001  (the edge of a request: Django's log would quote what was said)
        return _broken(error).answer()


@csrf_exempt
@login_not_required
def not_found(request: HttpRequest, **_: str) -> JsonResponse:
    """Other endpoints of OpenAI: embeddings, files, responses."""
    message = "There is no such address here: only /v1/models, and /v1/chat/completions."
    return CompletionRefused(404, "unknown_url", message).answer()


def _reply_to(request: HttpRequest) -> AnyReply:
    """The request, with the persona asked. Raises CompletionRefused."""
    caller = _caller(request, "POST")
    try:
        completion = parse_request(request.body)
    except RequestDataTooBig as error:
        message = "This request is too long. Only what is new has to be sent: the rest she knows."
        raise CompletionRefused(413, "request_too_large", message) from error
    key = request.headers.get("Idempotency-Key", "")
    if len(key) > LONGEST_KEY:
        raise CompletionRefused(
            400, "idempotency_key_too_long", f"An Idempotency-Key has at most {LONGEST_KEY} characters."
        )
    persona = _find_persona(caller, completion.model)
    is_errand = (
        completion.errand
        or errands.is_marked(request.headers)
        or quotes_the_session(persona, completion, timezone.now())
    )
    if is_errand:
        return ErrandReply(persona, completion.as_errand())
    refuse_merged(
        completion.lines, [persona.name, persona.user_display_name, persona.user_name], is_alone=completion.is_alone
    )
    login = Login(caller.pk, secret=request.headers["Authorization"].partition(" ")[2].strip())
    return Reply(persona, completion, login, key)


def _caller(request: HttpRequest, method: str) -> User:
    """The user of the request's token; the request must have this method. Raises CompletionRefused."""
    if request.method != method and (request.method, method) != ("HEAD", "GET"):
        raise CompletionRefused(
            405, "method_not_allowed", f"This address knows {method} alone.", headers={"Allow": method}
        )
    try:
        caller = bearer.bearer_of(request, timezone.now())
        if caller is None:
            raise bearer.WrongToken
    except bearer.WrongToken as error:
        raise CompletionRefused(
            401,
            "invalid_api_key",
            "Send a token as Authorization: Bearer ev_…; the account page and manage.py create_api_token make them.",
        ) from error
    except bearer.LockedOut as error:
        message = "Too many wrong keys came from here. Wait a while."
        raise CompletionRefused(429, "locked_out", message, final=True, retry_after=error.seconds) from error
    return caller


def _find_persona(caller: User, name: str) -> Persona:
    persona = names.find_persona(caller, name)
    if persona is None:
        message = "There is no such model. /v1/models lists your personas."
        raise CompletionRefused(404, "model_not_found", message, param="model")
    return persona


async def _chunks(
    reply: AnyReply, first: str | Withdrawal | None, pieces: AsyncGenerator[str | Withdrawal | None, None]
) -> AsyncGenerator[str, None]:
    async with aclosing(pieces):
        yield _chunk(reply, {"role": "assistant", "content": _format_piece(first or "")})
        try:
            async for piece in pieces:
                yield HEARTBEAT if piece is None else _chunk(reply, {"content": _format_piece(piece)})
        except CompletionRefused as error:
            yield _event(error.as_json())
            return
        except Exception as error:  # noqa: BLE001  (the edge of a stream, which would end without a word)
            yield _event(_broken(error).as_json())
            return
    yield _chunk(reply, {}, _finish_reason(reply))
    if reply.request.include_usage:
        usage = await reply.usage()
        yield _event(_head(reply, "chat.completion.chunk") | {"choices": [], "usage": usage.as_json()})
    yield "data: [DONE]\n\n"


def _finish_reason(reply: AnyReply) -> str:
    return "length" if reply.is_cut else "stop"


def _format_piece(piece: str | Withdrawal) -> str:
    """A client cannot take back text that it has: the reply begins again in a new paragraph. It happens once to a model
    whose name does not tell that it thinks (`llm.providers`)."""
    return "\n\n" if isinstance(piece, Withdrawal) else piece


def _broken(error: Exception) -> CompletionRefused:
    logger.error("a request for a reply broke: %s", redaction.format_exception(error))
    return of_turn("internal", "Something went wrong. Everything said before is safe; you can try again.")


def _chunk(reply: AnyReply, delta: dict[str, str], finish_reason: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
    usage = {"usage": None} if reply.request.include_usage else {}  # it comes at the end; until then it is null
    return _event(_head(reply, "chat.completion.chunk") | {"choices": [choice]} | usage)


def _head(reply: AnyReply, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{reply.uuid.hex}",
        "object": kind,
        "created": int(reply.created_at.timestamp()),
        "model": reply.request.model,
    }


def _event(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n"
