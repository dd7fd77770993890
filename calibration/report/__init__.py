"""Reports on calibrators as Markdown, JSON, a page and plots. They compute nothing that a study must know, and ask no model."""
