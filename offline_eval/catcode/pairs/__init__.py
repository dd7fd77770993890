"""CatCode on pairs of programs: are two programs the same function?"""
