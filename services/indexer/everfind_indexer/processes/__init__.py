"""Processes of our own for what anyone may have made, and the limits they put on themselves."""
