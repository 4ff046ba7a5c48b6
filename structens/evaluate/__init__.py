"""Evaluation: counts, rates, intervals, comparisons, agreement, oracles; one tie rule behind them all."""

from structens.core.fingerprint import fingerprint
from structens.evaluate.agreement import (
    Agreement,
    agreement,
    coverage,
    disjoint_labels,
    identical_answers,
    possible_copies,
)
from structens.evaluate.alignment import Operation, alignment, edit_errors
from structens.evaluate.bootstrap import (
    Interval,
    bootstrap_p_value,
    interval,
    randomization_p_value,
    resampled_rates,
)
from structens.evaluate.comparison import Comparison, compare, compare_counts
from structens.evaluate.counts import count_errors, count_systems
from structens.evaluate.error_counts import ErrorCounts
from structens.evaluate.evaluation import Evaluation, Group, Row
from structens.evaluate.expectation import expected_counts
from structens.evaluate.experts import evaluate_experts
from structens.evaluate.groups import groups
from structens.evaluate.methods import TABLE, evaluate_methods
from structens.evaluate.oracle import best_expert_per_record, best_path
from structens.evaluate.rates import Rates, rates, record_rates
from structens.evaluate.records import match_by_id, record_rows
from structens.evaluate.reliability import Reliability, record_reliability, reliability, unit_reliability

__all__ = [
    "TABLE",
    "Agreement",
    "Comparison",
    "ErrorCounts",
    "Evaluation",
    "Group",
    "Interval",
    "Operation",
    "Rates",
    "Reliability",
    "Row",
    "agreement",
    "alignment",
    "best_expert_per_record",
    "best_path",
    "bootstrap_p_value",
    "compare",
    "compare_counts",
    "count_errors",
    "count_systems",
    "coverage",
    "disjoint_labels",
    "edit_errors",
    "evaluate_experts",
    "evaluate_methods",
    "expected_counts",
    "fingerprint",
    "groups",
    "identical_answers",
    "interval",
    "match_by_id",
    "possible_copies",
    "randomization_p_value",
    "rates",
    "record_rates",
    "record_reliability",
    "record_rows",
    "reliability",
    "resampled_rates",
    "unit_reliability",
]
