"""What an editor can ask for, and how the answers look on the wire. Computes no suggestion itself."""
