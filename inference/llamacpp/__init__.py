"""The backend for GGUF files: llama.cpp in this process."""
