"""Read code to study, from benchmark files and git histories. Runs none of it."""
