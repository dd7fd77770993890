"""The study of one repository: its own tests judge what is suggested there."""
