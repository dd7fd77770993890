"""The worker pool that every study runs on: processes of this machine or of a Ray cluster. It knows no study and no model."""
