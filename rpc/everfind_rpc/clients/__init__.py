"""Clients of the services, each a port of :mod:`everfind_core.ports`: same values and errors as an engine."""
