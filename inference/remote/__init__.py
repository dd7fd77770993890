"""The backend for models behind a server of OpenAI-compatible completions. Knows nothing of the other backends."""
