"""Shared parts of the HTTP API: request bodies, pagination, problems, documentation, tokens."""
