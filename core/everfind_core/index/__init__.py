"""What an index is on the disk, as all that read or write one agree on it."""
