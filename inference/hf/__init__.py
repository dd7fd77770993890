"""The backend for folders of transformers models, in this process. Knows nothing of the other backends."""
