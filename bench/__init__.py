"""Measurements behind docs/benchmarks.md: one command a claim, each against a limit or a peer in the same run."""
