"""The calibration study: lines taken out of real projects. It runs none of their code."""
