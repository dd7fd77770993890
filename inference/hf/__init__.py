"""The backend for folders of transformers models, in this process."""
