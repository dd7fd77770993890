"""Where code to study comes from: benchmark files and git histories. Runs nothing."""
