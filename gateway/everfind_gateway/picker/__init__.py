"""The interactive picker: type, see hits, look at them, open one."""
