"""What is copied into the jail: its one package runs on the project's interpreter, which has pytest and does not have Assay."""
