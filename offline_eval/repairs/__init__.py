"""The study of repairs: bugs whose tests fail, what is proposed in their place, and what the tests say of that."""
