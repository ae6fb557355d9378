"""The front of everfind: settings, command line, and the one-process mode."""
