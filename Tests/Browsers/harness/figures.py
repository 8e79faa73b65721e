"""Figures of several runs, printed all with their median."""

import statistics


class Figures:
    """The same figure of every run."""

    def __init__(self, unit="", digits=0):
        self._unit = unit
        self._digits = digits
        self.values = []

    def add(self, value):
        self.values.append(value)

    @property
    def median(self):
        return statistics.median(self.values)

    @property
    def worst(self):
        return max(self.values)

    def __str__(self):
        each = ", ".join(f"{value:.{self._digits}f}" for value in self.values)
        if len(self.values) == 1:
            return f"{each}{self._unit}"
        return f"{each}: median {self.median:.{self._digits}f}{self._unit}"
