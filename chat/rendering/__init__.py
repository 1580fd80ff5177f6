"""Replies as safe HTML."""
