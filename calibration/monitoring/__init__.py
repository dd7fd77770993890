"""Whether a calibrator still holds, and where the dial stands. Fits nothing."""
