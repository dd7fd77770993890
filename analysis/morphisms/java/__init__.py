"""The rules for Java, on tree-sitter's trees: one file each."""
