"""The settings of a user: one table, its parser and its page of docs. Knows nothing of what the settings do."""
