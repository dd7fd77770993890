"""From lines of a text to what might stand there instead, best first: for server, studies and commands alike. Runs no tests."""
