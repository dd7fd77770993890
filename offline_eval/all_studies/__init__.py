"""The line twins of all studies for one model, one after another: what its calibrators are validated on."""
