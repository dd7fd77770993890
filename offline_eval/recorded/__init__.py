"""Answers that were recorded: of published sets, and of anyone's file in the open format `assay/answers/1`. No model is asked."""
