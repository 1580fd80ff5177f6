"""Turns: claimed by one server, run one after another for each persona, finished exactly once."""
