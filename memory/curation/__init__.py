"""Curation: what people change in memory themselves: add, correct, hide, dispute, remember."""
