"""CatCode (Lin et al., arXiv 2403.01784): does a model tell a change of names and order from a change of meaning?"""
