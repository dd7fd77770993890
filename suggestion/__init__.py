"""From a cursor in a text to the suggestion that is shown there: for server, studies and commands alike. Knows no editor and no study."""
