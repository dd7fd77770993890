"""The line twin of CatCode: lines of projects, and rewrites of them and of the code around them."""
