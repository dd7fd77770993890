"""What an editor can ask for, and the form of the answers. Computes no suggestion itself."""
