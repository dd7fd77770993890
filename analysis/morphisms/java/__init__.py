"""The morphisms for Java, one file each, on tree-sitter's trees; what they share is in `program/`."""
