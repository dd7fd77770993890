"""The backend for models behind a server of OpenAI-compatible completions."""
