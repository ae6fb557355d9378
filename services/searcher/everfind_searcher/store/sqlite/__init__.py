"""The reading side of the SQLite store, for machines where LanceDB cannot be loaded."""
