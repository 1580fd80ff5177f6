"""Errands: what a client program asks of a model behind its user's back, for a title, tags, a summary, a search.

A persona runs none, and nothing of them is stored: she would remember them as something that was said. They are known
by one of

    a header     in which Open WebUI names the task, where its connection says {"X-OpenWebUI-Task": "{{TASK}}"}
    their words  the prompts that come with the clients
    a quotation  the request holds no history, and its line quotes what both have said a moment ago

`store: false` tells nothing: there are clients that send it with every line.
"""

from collections.abc import Mapping

HEADER = "X-OpenWebUI-Task"
OPENINGS = (
    "### Task:",  # Open WebUI: titles, tags, what to ask next, searches, completions
    "Provide a concise, 5-word-or-less title for the conversation",  # LibreChat
    "Based on the chat history, give this conversation a name",  # Chatbox
    "Please generate a four to five word title summarizing our conversation",  # NextChat
    "使用四到五个字直接返回这句话的简要主题",
    "Given the following... please reply with a title for the chat",  # Continue
)
BEGINNING = 60  # characters; clients cut what they quote, Chatbox at 100
LEAST_BYTES = 16  # of her words; with fewer it would be chance


def is_marked(headers: Mapping[str, str]) -> bool:
    """Whether the client says of its request that it is one."""
    return bool(headers.get(HEADER, "").strip())


def is_known(line: str) -> bool:
    """
    >>> is_known("### Task:\\nGenerate a concise title."), is_known("My task: a title.")
    (True, False)
    """
    return line.lstrip().startswith(OPENINGS)


def quotes(line: str, said: str, reply: str) -> bool:
    """Whether the line holds the beginnings of what a user said and of what she answered.

    >>> quotes("user: Hello\\nassistant: Hi Ana, good to see you.", "Hello", "Hi Ana, good to see you.")
    True
    >>> quotes("Yes. Hello, are you there?", "Hello", "Yes.")
    False
    """
    asked, answered = _beginning(said), _beginning(reply)
    return len(answered.encode()) >= LEAST_BYTES and bool(asked) and asked in line and answered in line


def _beginning(text: str) -> str:
    return (text.strip().splitlines() or [""])[0][:BEGINNING].rstrip()
