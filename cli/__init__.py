"""The program `assay`, one file per command: it parses, calls, prints and sets the exit code. It computes nothing itself."""
