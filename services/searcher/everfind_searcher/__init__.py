"""The searcher: questions in, hits out."""
