"""From files to a model ready for use: the packaged one, a directory, or a hub; each checked before it is used."""
