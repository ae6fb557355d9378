"""One index run, from its folders to its report."""
