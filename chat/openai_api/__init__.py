"""The door for any chat client that speaks OpenAI's protocol: each persona of a token's owner is a model.

Only what is new in a request counts, the user's lines after the last of the assistant: her memory is her own, not the
history the client keeps. They are stored in L2, in the channel of the API, and answered by an ordinary turn.
"""
