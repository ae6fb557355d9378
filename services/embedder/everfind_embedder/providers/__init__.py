"""Models that a provider runs: embedding and reranking over its JSON API. Off unless a user configures one."""
