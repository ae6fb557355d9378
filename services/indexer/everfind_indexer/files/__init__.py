"""Single files: how large one may be, reading one without following links, and what is known of one that was found."""
