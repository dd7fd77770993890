"""The backend for GGUF files: llama.cpp in this process. Knows nothing of the other backends."""
