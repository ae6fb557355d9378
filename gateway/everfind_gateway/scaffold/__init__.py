"""A project's own scoped instance: what `scaffold` and `init` write, and what the editor hook does after an edit."""
