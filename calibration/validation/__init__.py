"""What the studies say of a calibrator: figures with claims, each of which holds, is refuted, is undecided or was not run."""
