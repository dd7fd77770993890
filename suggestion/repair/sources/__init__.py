"""Where candidates come from: one file each, and `registry` is their list."""
