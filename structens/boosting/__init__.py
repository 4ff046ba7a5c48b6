"""Boosting: classifiers of the AdaBoost family, and ensembles of path experts."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submod_attrs={
        "adaboost": ["AdaBoost"],
        "adaboost_mh": ["AdaBoostMH"],
        "adaboost_trace": ["Trace"],
        "any_cut": ["AnyCut"],
        "calibration": ["Isotonic", "Sigmoid", "Temperature"],
        "classifier": ["Classifier"],
        "co_training": ["DLCoTrain", "DecisionRule"],
        "coboost": ["CoBoost", "CollapseWarning", "Rule"],
        "deep_esp_boost": ["deep_boost_paths", "deep_step", "objective"],
        "esp_automaton": ["AutomatonPaths"],
        "esp_automaton_records": ["paths_of_records"],
        "esp_automaton_switches": ["AutomatonSwitches"],
        "esp_boost": ["Boosted", "boost_paths"],
        "esp_complexity": ["AdditiveComplexity", "SwitchComplexity", "best_by_switches", "switch_complexities"],
        "esp_slots": ["LabelPaths", "PathExperts", "SlotPaths"],
        "hamming_tree": ["HammingTree", "Stump"],
        "multi_label": ["MultiLabelScores", "held_out_votes", "label_thresholds", "multi_label_scores"],
        "nominal": ["Indicator"],
        "posteriors": ["softmax_posteriors", "vote_posteriors"],
        "product": ["HammingProduct", "OneAgainstAll"],
        "selection": ["Selection", "select"],
        "stopping": ["OnlineStopping", "rounds_without_error", "smoothed_curve", "smoothed_minimum"],
    },
)
