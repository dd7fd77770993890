"""The maps as an estimator of scikit-learn. The only part that needs scikit-learn."""
