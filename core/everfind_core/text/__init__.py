"""Text as it is compared, masked and shown: terms, stems, secrets, numbers, and paths in words."""
