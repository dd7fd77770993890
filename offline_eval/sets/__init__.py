"""What studies ask about: lines of real projects, places that a project's tests watch, and problems of benchmarks."""
