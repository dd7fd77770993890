"""Whether a calibrator still holds, and what a position of the dial shows. It fits nothing and knows no server."""
