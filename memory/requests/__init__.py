"""What the owner asks for in words, and what becomes of it: found and offered, never done without their yes.

find         what a request to forget is about: memories, messages, people
corrections  which memory a correction contradicts, and how it would read
withhold     "don't remember that": at once, and taken back at a press
offer        after a turn: tell the page, by ids alone

Where there is no page a reply says what was found, and a plain yes confirms (`memory.forgetting.by_word`).
"""
