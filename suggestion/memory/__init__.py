"""What a project memory reads: which files of a folder, and which part of the open file; the same for editor and laboratory."""
