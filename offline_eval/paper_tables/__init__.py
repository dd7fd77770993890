"""The tables and figures of Spiess et al. (2024) beside ours, cell by cell."""
