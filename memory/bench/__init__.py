"""Benchmarks of memory, on synthetic lives in databases of their own."""
