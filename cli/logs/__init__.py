"""`assay logs …`: what the log of events says, and what may be done with it."""
