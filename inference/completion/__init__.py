"""One completion at a place in a text: the prompt, the cut, the call. The same for every backend."""
