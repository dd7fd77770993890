"""Evidence to probability: measures, calibrators, metrics, registry, plots."""
