"""Asking a model in words: messages go in, answers come out, by a server's chat or as plain text for a completion model."""
