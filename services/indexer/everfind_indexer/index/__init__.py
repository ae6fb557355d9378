"""An index as a whole: opened, locked, mended, and carried elsewhere."""
