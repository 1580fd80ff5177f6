"""The frames a page may send: JSON text of a known type and shape, whatever else arrives."""

import json
import uuid
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from chat.models.message import MAX_CHARACTERS
from echovessel.language.plain_text import storable


class Frame(BaseModel):
    """What all frames share: nothing but their own fields."""

    model_config = ConfigDict(extra="ignore", strict=False)


class SendMessage(Frame):
    type: Literal["message"]
    client_id: uuid.UUID
    content: str
    off_the_record: bool = False


class Stop(Frame):
    type: Literal["stop"]
    turn_id: uuid.UUID


class Retry(Frame):
    type: Literal["retry"]
    turn_id: uuid.UUID


class CloseSession(Frame):
    type: Literal["close_session"]


class OffTheRecord(Frame):
    type: Literal["off_the_record"]
    on: bool


class Resume(Frame):
    type: Literal["resume"]
    after: int = Field(ge=0, le=2**62)


class Ping(Frame):
    type: Literal["ping"]


ClientFrame = SendMessage | Stop | Retry | CloseSession | OffTheRecord | Resume | Ping
_adapter: TypeAdapter[ClientFrame] = TypeAdapter(Annotated[ClientFrame, Field(discriminator="type")])
TYPES = ("message", "stop", "retry", "close_session", "off_the_record", "resume", "ping")


class BadFrame(Exception):
    """A frame nobody can act on; `code` and the message go back to its sender, and the seconds after which the same
    frame may be acted on, where that helps."""

    def __init__(self, code: str, message: str, client_id: str | None = None, retry_after: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.client_id = client_id
        self.retry_after = retry_after


def parse(text: str | None) -> ClientFrame:
    """The frame in `text`. Raises BadFrame. Its texts are such as can be stored."""
    if text is None:
        raise BadFrame("bad_frame", "Frames are JSON text, not bytes.")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadFrame("bad_frame", "This frame is not JSON.") from error
    if not isinstance(data, dict):
        raise BadFrame("bad_frame", "A frame is a JSON object.")
    if not isinstance(data.get("type"), str) or data["type"] not in TYPES:
        raise BadFrame("unknown_type", f"The type of a frame is one of {', '.join(TYPES)}.")
    try:
        frame = _adapter.validate_python(_storable(data))
    except ValidationError as error:
        fields = ", ".join(sorted({str(item["loc"][-1]) for item in error.errors()}))
        raise BadFrame(
            "bad_frame", f"Missing or wrong in this frame: {fields}.", _client_id(_storable(data))
        ) from error
    if isinstance(frame, SendMessage):
        if not frame.content:
            raise BadFrame("empty", "There are no words in this message.", str(frame.client_id))
        if len(frame.content) > MAX_CHARACTERS:
            raise BadFrame(
                "too_long",
                f"A message has at most {MAX_CHARACTERS:,} characters; this one has {len(frame.content):,}.",
                str(frame.client_id),
            )
    return frame


def _storable(data: dict[str, object]) -> dict[str, object]:
    return {key: storable(value) if isinstance(value, str) else value for key, value in data.items()}


def _client_id(data: dict[str, object]) -> str | None:
    given = data.get("client_id")
    return given[:64] if isinstance(given, str) else None
