"""The settings by what they are for: each group changes with one part of everfind."""
