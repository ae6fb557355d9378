"""Files and their paths: the string form, globs, locks, and replacing one whole."""
