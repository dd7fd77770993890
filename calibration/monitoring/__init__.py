"""Whether a calibrator still holds, and where the dial stands. It fits nothing and knows no server."""
