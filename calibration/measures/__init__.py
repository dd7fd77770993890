"""Raw numbers about a generation. None of them is a probability until a calibrator maps it."""
