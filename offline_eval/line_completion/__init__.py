"""The study of line completion on real projects."""
