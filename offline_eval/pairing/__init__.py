"""Two runs on the same items, compared pair by pair."""
