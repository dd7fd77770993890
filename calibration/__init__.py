"""Evidence to probability: measures of a generation, maps, their evidence, and the files of both. It knows no editor and no study."""
