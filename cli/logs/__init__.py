"""`assay logs …`: reads, uses and deletes the log of events."""
