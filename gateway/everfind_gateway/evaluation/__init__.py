"""`eval`: measuring retrieval, on labelled sets in indexes of their own, and with a user's own questions on theirs."""
