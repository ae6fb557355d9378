"""The web page: a front for people, over the tools that agents use."""
