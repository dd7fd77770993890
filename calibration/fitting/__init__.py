"""Samples in, calibrator out: model selection, shrinkage, adaptation and held-out evidence. It knows no model and no editor."""
