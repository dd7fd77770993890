"""The prompt of a completion: its context, budgets and layout, the same for every backend. Knows no backend and no editor."""
