"""Errands: requests that a client program makes on its own, for a title, tags, a summary, a search.

They are answered (`errand_replies`) and not stored: the persona would remember them as messages. They are recognized by
one of

    a header     in which Open WebUI names the task, where its connection says {"X-OpenWebUI-Task": "{{TASK}}"}
    their words  the prompts that come with the clients
    a quotation  the request has no history, and its message quotes the last messages of both sides

`store: false` is no sign: some clients send it with every message.
"""

import json
import re
from collections.abc import Mapping

from echovessel.llm.offline.feeling import impact_of

HEADER = "X-OpenWebUI-Task"
OPENINGS = (
    "### Task:",  # Open WebUI: titles, tags, what to ask next, searches, completions, pictures
    "Your task is to reflect the speaker's likely facial expression through a fitting emoji",  # its emoji in calls
    "You have been provided with a set of responses from various models to the latest user query",  # its merging
    "Create a concise, 3-5 word phrase as a header for the following query",  # its titles until 2024
    "Create a concise, 3-5 word title with an emoji as a title",
    "Provide a concise, 5-word-or-less title for the conversation",  # LibreChat
    "Based on the chat history, give this conversation a name",  # Chatbox
    "Please generate a four to five word title summarizing our conversation",  # NextChat
    "使用四到五个字直接返回这句话的简要主题",
    "Given the following... please reply with a title for the chat",  # Continue
)
# Of a system message that is followed by the conversation, as one user message or as a history.
SYSTEM_OPENINGS = (
    "Available Tools:",  # Open WebUI: its choice of tools
    "You are a professional conversation summarizer.",  # LobeChat
    "你是一名擅长会话的助理，你需要将用户的会话总结为",  # LobeChat and Cherry Studio
    "You are an assistant skilled in conversation. You need to summarize the user's conversation into a title",
    "Summarize the conversation into a title in",  # Cherry Studio
    "总结给出的会话，将其总结为语言为",
)
# Documents or search results that Open WebUI wraps around a user message: that is conversation, not an errand.
DOCUMENTS = re.compile(r"### Task:\s*Respond to the user query using the provided context", re.IGNORECASE)
BEGINNING = 60  # characters; clients cut what they quote, Chatbox at 100
LEAST_BYTES = 16  # of the reply; a shorter one may occur by chance


def is_marked(headers: Mapping[str, str]) -> bool:
    """Whether the client marks its request as an errand."""
    return bool(headers.get(HEADER, "").strip())


def is_errand_prompt(text: str) -> bool:
    """Whether a user message is the prompt of an errand, as a client words it.

    >>> is_errand_prompt("### Task:\\nGenerate a concise title."), is_errand_prompt("My task: a title.")
    (True, False)
    """
    return text.lstrip().startswith(OPENINGS) and not has_documents(text)


def has_documents(text: str) -> bool:
    """Whether the client has wrapped documents around a user message."""
    return DOCUMENTS.match(text.lstrip()) is not None


def is_errand_system_prompt(text: str) -> bool:
    """Whether a system message makes the request an errand."""
    return text.lstrip().startswith(SYSTEM_OPENINGS)


def quotes(text: str, owner_text: str, reply: str) -> bool:
    """Whether the text contains the beginnings of both a user message and the reply to it.

    >>> quotes("user: Hello\\nassistant: Hi Ana, good to see you.", "Hello", "Hi Ana, good to see you.")
    True
    >>> quotes("Yes. Hello, are you there?", "Hello", "Yes.")
    False
    """
    text_start, reply_start = _beginning(owner_text), _beginning(reply)
    return len(reply_start.encode()) >= LEAST_BYTES and bool(text_start) and text_start in text and reply_start in text


def _beginning(text: str) -> str:
    return (text.strip().splitlines() or [""])[0][:BEGINNING].rstrip()


# --- answers by rule, where no model is connected or none answers ---------------------------------------------------
_KEY = re.compile(r'"(title|tags|follow_ups|queries|text|prompt|tool_calls)"\s*:')
_USER_LINE = re.compile(r"^(?:USER|Human|用户)\s*[:：]\s*(.+)$", re.IGNORECASE | re.MULTILINE)
_IN_HISTORY = re.compile(r"<chat_history>\s*(.*?)\s*(?:</chat_history>|\Z)", re.DOTALL)
_QUOTED_MESSAGE = re.compile(r"Message:\s*(?:```|\"\"\")?(.*?)(?:```|\"\"\")?\s*\Z", re.DOTALL)
_HAN = re.compile("[\u3400-\u9fff]")
MAX_TITLE = 40  # characters


def answer_by_rule(errand: str) -> str:
    """The least that the client can use, in the form it asks for.

    >>> answer_by_rule('### Task: a title. { "title": "…" } <chat_history>USER: I got a cat.</chat_history>')
    '{"title": "I got a cat"}'
    >>> answer_by_rule('### Task: tags. { "tags": ["tag1"] } <chat_history></chat_history>')
    '{"tags": []}'
    """
    if "emoji" in errand[:200] and (message := _QUOTED_MESSAGE.search(errand)):
        impact = impact_of(message[1])
        return "😢" if impact <= -5 else "😕" if impact < 0 else "😊" if impact > 0 else "🙂"
    # The title is the beginning of the first user message, as far as the errand quotes it.
    history = _IN_HISTORY.search(errand)
    first = _USER_LINE.search(history[1] if history else errand)
    title = " ".join(first[1].split()) if first else ""
    if len(title) > MAX_TITLE:
        title = title[:MAX_TITLE].rpartition(" ")[0] or title[:MAX_TITLE]
    title = title.rstrip(" .,;:!?。，；：！？") if title else "对话" if _HAN.search(errand) else "Conversation"
    key = _KEY.search(errand)
    if key is None:
        return title
    values: dict[str, object] = {"title": title, "text": "", "prompt": title}
    return json.dumps({key[1]: values.get(key[1], [])}, ensure_ascii=False)
