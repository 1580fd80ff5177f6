"""Conversation: sessions, turns and every message of both sides (L2)."""
