"""From an order of hits to an answer."""
