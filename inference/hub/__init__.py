"""Models that can be had from the hub: a catalogue of those that fill in the middle, and the way from it into the hub's own cache."""
