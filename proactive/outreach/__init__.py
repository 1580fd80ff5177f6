"""Outreach: one first word, from the decision to the message in the session."""
