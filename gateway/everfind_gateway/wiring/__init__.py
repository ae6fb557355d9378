"""Who answers: engines of this process, a running server, or a remote one."""
