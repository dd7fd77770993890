from __future__ import annotations

import pytest
from synthetic_study import whole

from assay.offline_eval.paper_tables.tables import StudyTables, study_tables


@pytest.fixture(scope="session")
def tables() -> StudyTables:
    """The tables of a whole study with a known truth."""
    return study_tables(whole())
