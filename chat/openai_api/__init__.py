"""An OpenAI-compatible API: each persona of a token's owner is a model.

Only the new messages of a request count: the user messages after the last assistant message. The persona uses its own
memory, not the history that the client keeps. The messages are stored in L2, in the API's channel, and answered by an
ordinary turn.
"""
