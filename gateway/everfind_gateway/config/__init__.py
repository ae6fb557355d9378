"""Settings: files, layers, trust, folders and what they say."""
