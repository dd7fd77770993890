"""Samples in, calibrator out: selection, shrinkage, adaptation, held-out evidence. Shows nothing to anyone."""
