"""The open documents, notebooks and folders, kept equal to the editor's. Knows no model."""
