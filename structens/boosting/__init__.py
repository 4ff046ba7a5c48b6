"""Boosting: classifiers of the AdaBoost family, and ensembles of path experts."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submod_attrs={
        "classifier": ["Classifier"],
    },
)
