"""Token healing: the prompt ends before the word at the cursor, and the first tokens are held to what stands there. Knows no backend."""
