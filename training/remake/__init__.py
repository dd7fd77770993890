"""One command makes all evidence again: the shipped calibrators, and what the pages say of them and of the model."""
