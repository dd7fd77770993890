"""Raw numbers about a generation. They know no calibrator: none is a probability until a calibrator maps it."""
