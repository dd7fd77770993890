"""Proof of repairs by a project's own tests: run in processes beside the server, with the user's consent."""
