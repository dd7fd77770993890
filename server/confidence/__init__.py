"""The calibrators in use, and what is reported of them: explanation, dial, drift. Asks no model and knows no messages."""
