"""Estimator: scikit-learn's parameter conventions without importing scikit-learn (1.1 s of CPU at every start)."""

from __future__ import annotations

import inspect
from typing import Any, Self

from structens.core.errors import NotFittedError, ParameterError


class Estimator:
    """Base of the ensembles: constructor arguments are stored untouched, what is learnt ends in ``_``.

    `sklearn.base.clone` and `sklearn.model_selection.GridSearchCV` work on subclasses.

    Examples
    --------
    >>> class Constant(Estimator):
    ...     def __init__(self, value=1):
    ...         self.value = value
    >>> Constant(2), Constant(2).set_params(value=3).get_params()
    (Constant(value=2), {'value': 3})
    """

    @classmethod
    def _parameter_names(cls) -> list[str]:
        if cls.__init__ is object.__init__:
            return []
        return list(inspect.signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Constructor arguments by name; with `deep` those of nested estimators too, as ``outer__inner``."""
        out: dict[str, Any] = {}
        for name in self._parameter_names():
            value = getattr(self, name)
            out[name] = value
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                out.update({f"{name}__{key}": v for key, v in value.get_params().items()})
        return out

    def set_params(self, **params: Any) -> Self:
        """Set constructor arguments.

        Raises
        ------
        ParameterError
            If there is no such argument.
        """
        names = self._parameter_names()
        for key, value in params.items():
            name, _, rest = key.partition("__")
            if name not in names:
                raise ParameterError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(names)}")
            if rest:
                getattr(self, name).set_params(**{rest: value})
            else:
                setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        shown = [
            f"{name}={getattr(self, name)!r}"
            for name in self._parameter_names()
            if repr(getattr(self, name)) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def _check_fitted(self) -> None:
        if not any(name.endswith("_") and not name.startswith("_") for name in vars(self)):
            raise NotFittedError(f"this {type(self).__name__} has learnt nothing yet; call fit first")
