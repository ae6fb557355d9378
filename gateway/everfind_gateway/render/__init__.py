"""What people see: answers, progress and errors as text for terminals and pipes."""
