"""The models that are on this machine already, found where other programs keep them; nothing is downloaded."""
