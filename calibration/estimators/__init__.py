"""The maps as scikit-learn's estimators, and what its folds and boosted trees say of them. The only part that needs scikit-learn."""
