"""Taking over the configuration of the systems that everfind succeeds."""
