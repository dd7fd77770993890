"""Studies and recalibration: tasks, samples, labels, reports."""
