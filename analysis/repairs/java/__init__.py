"""The rules for Java, one file each."""
