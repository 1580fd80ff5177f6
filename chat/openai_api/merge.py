"""Detect prompts that a client has merged into one message: its system prompt, the names of the speakers, and earlier
messages. A persona would remember all of it as the user's words.

SillyTavern does so where its prompt post-processing is "Single user message"; "semi-strict", "strict" and "merge" put
its instructions in the middle of a chat into the user message. Front ends that write the template of a model themselves
(KoboldAI, RisuAI) do so, too. Such a text cannot be told for sure, so the rules look for what no person writes to a
persona: the marks of these programs, or a text that begins with instructions and continues as a script.
"""

import re
from collections.abc import Collection

from chat.openai_api.errors import CompletionRefused

# Whole lines, or beginnings of lines, of the prompts that come with the programs.
_MARKS = re.compile(
    r"""^\s*(?:
        \[(?:start\ a\ new\ (?:group\ )?chat|example\ chat)\b[^\]\n]*\]
      | \[continue\ (?:your\ last\ message|the\ following\ message)\b[^\n]*
      | \[write\ (?:the|your)\ next\ reply\ (?:only\ as|from\ the\ point\ of\ view\ of)\b[^\n]*
      | \[(?:开始新的?(?:群聊|聊天)|示例对话|新的聊天)[^\]\n]*\]
      | write\ [^\n]{1,80}'s\ next\ reply\ in\ (?:a|this)\ (?:fictional|never-ending|uncensored)\b[^\n]*
      | if\ you\ have\ more\ knowledge\ of\ [^\n]{1,80},\ add\ to\ the\ character's\ lore\b[^\n]*
      | <START>\s*$
      | \#{2,3}\ (?:instruction|response|input)\s*:?\s*$
      | <\|(?:im_start|start_header_id|system|user|assistant|begin_of_text)\|>
      | \[INST\] | <<SYS>> | <start_of_turn> | <\|turn>
    )""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
# How a program instructs a model; people who write to a persona seldom begin like this.
_INSTRUCTION = re.compile(
    r"""\s*(?:
        \[?(?:system(?:\ prompt)?|instructions?|scenario|character|persona)\]?\s*[:：]
      | you(?:\ are|'re|\ will|\ must|\ should)\b | your\ (?:task|role|job|name)\ is\b
      | assume\ the\ (?:role|persona|identity)\b | act\ as\b | pretend\ (?:to\ be|that\ you)\b | role-?play\b
      | write\b | respond\b | reply\b | answer\b | continue\b
      | enter\ (?:rp|role-?play)\b | from\ now\ on\b | this\ is\ a\ (?:role-?play|fictional|conversation|chat)\b
      | the\ following\ is\b | below\ is\b | in\ this\ (?:role-?play|chat|conversation)\b
      | (?:请你?|现在|从现在(?:起|开始)，?)?(?:扮演|充当|以.{1,20}的(?:身份|口吻))
      | 你(?:是|现在是|将是|将扮演|要扮演|需要|的任务|的角色|必须) | 以下是 | 这是一(?:个|场)(?:角色扮演|虚构)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
# "Ana: Hello." at the beginning of a paragraph.
_SPEAKER = re.compile(r"^(?P<name>[^\W\d_][\w .'’-]{0,39}?)\s?[:：]\s", re.MULTILINE)
# Paragraphs, and lines that name a speaker.
_PARAGRAPHS = re.compile(r"\n\s*\n|\n(?=[^\W\d_][\w .'’-]{0,39}?\s?[:：]\s)")
_YOU_ARE = "you are|you're|your name is|act as|pretend to be|你(?:现在)?是|请?你?扮演"
_AN_ASSISTANT = (
    "an? (?:ai|a\\.i\\.|artificial intelligence|helpful|virtual|large language|expert|role-?play(?:ing|er)?)"
    "|(?:一个|一名|一位)?(?:AI|人工智能|智能助手|语言模型|角色扮演)"
)
LEAST_DESCRIPTION = 120  # characters of a character, before a script of both; a person quotes with fewer words
PROGRAMS = ("user", "human", "assistant", "ai", "system", "用户", "助手")

MESSAGE = (
    "This message begins with the client's own prompt, not with what was said: its character, its instructions, who "
    "speaks. A persona has a character and a memory of her own, and would remember all of it as your words. Have the "
    "client send each message with its own role: in SillyTavern, under API Connections, set Prompt Post-Processing to "
    "None, and send your line again."
)


def is_merged(text: str, names: Collection[str], *, is_alone: bool) -> bool:
    """Whether a user message contains a client's prompt. `names`: those of persona and owner; `is_alone`: the request
    holds nothing else, neither a system message nor one of the assistant.

    >>> is_merged("You are Mira, a pirate.\\n\\nAna: Hello!", ["Mira", "Ana"], is_alone=True)
    True
    >>> is_merged("You are so kind.\\n\\nMy sister said: thank you!", ["Mira", "Ana"], is_alone=True)
    False
    """
    if _MARKS.search(text):
        return True
    if not is_alone:
        return False
    first, *others = _PARAGRAPHS.split(text.strip())
    speakers = {speaker["name"].casefold() for part in others if (speaker := _SPEAKER.match(part))}
    known_names = {*(name.casefold() for name in names if name), *PROGRAMS}
    if not _INSTRUCTION.match(text):
        return len(first) >= LEAST_DESCRIPTION and len(speakers & known_names) > 1
    if speakers & known_names or len(speakers) > 1:
        return True
    # "You are Mira, …" or "You are a helpful assistant": nobody says that to Mira.
    somebody = "|".join([_AN_ASSISTANT, *(re.escape(name) for name in names if name)])
    says_who_to_be = re.match(rf"\s*(?:{_YOU_ARE})\s*(?:{somebody})(?![a-z])", first, re.IGNORECASE)
    return bool(others) and says_who_to_be is not None


def refuse_merged(texts: Collection[str], names: Collection[str], *, is_alone: bool) -> None:
    """Raises CompletionRefused, saying what to change in the client."""
    if any(is_merged(text, names, is_alone=is_alone and len(texts) == 1) for text in texts):
        raise CompletionRefused(400, "merged_prompt", MESSAGE, param="messages", final=True)
