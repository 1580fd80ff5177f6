"""Requests that the owner makes in messages: matched and offered, never carried out without their yes.

    find         the memories, messages and people that a request to forget is about
    corrections  the memory that a correction contradicts, and how it would read
    withhold     "don't remember that": immediately, and undone by one press
    offer        after a turn: publish offers to the page, by ids only

On channels without pages a reply lists the matches, and a plain yes confirms (`memory.forgetting.by_word`).
"""
