"""Reports: what a calibrator is worth, as text, JSON, a page and plots."""
