"""The kinds of bug for Java, one file each."""
