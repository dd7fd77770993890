"""Run untrusted programs isolated and under limits (`isolation`), and judge them by trusted tests (`judging`)."""
