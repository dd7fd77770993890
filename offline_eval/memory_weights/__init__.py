"""Fits the weights of the project memory's mixture to a model, on places of real projects."""
