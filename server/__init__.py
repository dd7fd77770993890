"""The language server: documents, context, engine, policy."""
