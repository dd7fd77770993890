"""Studies of a model on real code: items → answers → labels → samples → figures → report. It knows no editor and no language server."""
