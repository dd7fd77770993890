"""The calibration study on recorded answers: how good a share of answers, or of own tests, is as a probability. No model is asked."""
