"""A question, read and checked."""
