"""Maps: from measures, as they enter, to log odds of the event. One file each, with its fit."""
