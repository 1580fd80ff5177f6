"""Measuring how fast memory is, on made-up lives in databases of their own."""
