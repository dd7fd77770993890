"""Round trips of an instruct or completion model: functions of a benchmark, regions of real projects, and edits of their histories."""
