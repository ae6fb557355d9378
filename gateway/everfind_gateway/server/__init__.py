"""What `everfind serve` answers from."""
