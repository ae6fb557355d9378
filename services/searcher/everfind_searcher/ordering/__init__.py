"""From what the arms found to an order of hits."""
