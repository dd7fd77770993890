"""Programs: find regions, rewrite them, run them in a sandbox."""
