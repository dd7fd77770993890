"""`assay calibrate …`, one file per subcommand."""
