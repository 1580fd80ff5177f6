from chat.models.crisis_flag import CrisisFlag
from chat.models.message import Message, MessageText
from chat.models.session import Session
from chat.models.turn import Turn

__all__ = ["CrisisFlag", "Message", "MessageText", "Session", "Turn"]
