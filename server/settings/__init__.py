"""What a user may set in the editor: one table, its check and its page of docs. Knows nothing of what the settings do."""
