"""Answers as documented JSON, and as text that a model reads."""
