"""What noise looks like to a model on a corpus, and the floor that follows."""
