"""What the pages say in figures, as Markdown, from what the steps measured."""
