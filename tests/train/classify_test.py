#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Classification scores against scikit-learn's, on 1,000 random cases.

Classes are absent from the truth, from the prediction, or from both; pairs
come in batches and to several objects that are merged.
"""

import ctypes
import random
import sys
import warnings

import library

try:
    import numpy
    from sklearn import metrics
except ImportError:
    library.prefer(library.DEBIAN_PYTHON, "TARE_PYTHON_TRIED")
    library.skip("no scikit-learn (python3-sklearn)")

CASES = 1000
TOLERANCE = 1e-12
MEANS = ("macro", "weighted", "micro")

tare = library.load()


def add(handle, truth, predicted):
    kind = ctypes.c_int32 * len(truth)
    assert tare.tare_classify_add(handle, kind(*truth), kind(*predicted),
                                  ctypes.c_size_t(len(truth))) == 0


def counted(n_classes, truth, predicted, dice):
    """An object that has counted all pairs, by way of several."""
    handles = [ctypes.c_void_p() for _ in range(dice.randint(1, 4))]
    for handle in handles:
        assert tare.tare_classify_new(n_classes, ctypes.byref(handle)) == 0
    at = 0
    while at < len(truth):
        end = at + dice.randint(1, 20)
        add(dice.choice(handles), truth[at:end], predicted[at:end])
        at = end
    for other in handles[1:]:
        assert tare.tare_classify_merge(handles[0], other) == 0
        tare.tare_classify_free(other)
    return handles[0]


def case(dice):
    n_classes = dice.randint(1, 9)
    classes = range(n_classes)
    in_truth = dice.sample(classes, dice.randint(1, n_classes))
    in_prediction = dice.sample(classes, dice.randint(1, n_classes))
    n = dice.choice([0, 1, 2, dice.randint(3, 30), dice.randint(30, 500)])
    truth = [dice.choice(in_truth) for _ in range(n)]
    predicted = [t if t in in_prediction and dice.random() < 0.6
                 else dice.choice(in_prediction) for t in truth]
    return n_classes, truth, predicted


def differ(got, wanted):
    if numpy.isnan(wanted) or numpy.isnan(got):
        return numpy.isnan(wanted) != numpy.isnan(got)
    return not abs(got - wanted) <= TOLERANCE


def compare_means(handle, truth, predicted, labels, flags):
    """What differs, as texts."""
    scores, wrong = library.Scores(), []
    assert tare.tare_classify_scores(handle, flags, ctypes.byref(scores)) == 0
    for mean in MEANS:
        wanted = metrics.precision_recall_fscore_support(
            truth, predicted, average=mean, labels=labels, zero_division=0)
        ours = getattr(scores, mean)
        for name, value in zip(("precision", "recall", "f1"), wanted):
            if differ(getattr(ours, name), value):
                wrong.append(f"{mean} {name}: {getattr(ours, name)}, "
                             f"not {value}")
    # The function that people call.
    value = metrics.f1_score(truth, predicted, average="macro", labels=labels,
                             zero_division=0)
    if differ(scores.macro.f1, value):
        wrong.append(f"f1_score: {scores.macro.f1}, not {value}")
    value = metrics.accuracy_score(truth, predicted)
    if differ(scores.accuracy, value):
        wrong.append(f"accuracy: {scores.accuracy}, not {value}")
    return wrong


def compare_classes(handle, n_classes, truth, predicted):
    one, wrong, labels = library.ClassScore(), [], list(range(n_classes))
    wanted = metrics.precision_recall_fscore_support(
        truth, predicted, average=None, labels=labels, zero_division=0)
    for i in labels:
        assert tare.tare_classify_class(handle, i, ctypes.byref(one)) == 0
        ours = (one.score.precision, one.score.recall, one.score.f1,
                one.support)
        theirs = tuple(column[i] for column in wanted)
        if any(differ(a, b) for a, b in zip(ours, theirs)):
            wrong.append(f"class {i}: {ours}, not {theirs}")
    matrix = tare.tare_classify_matrix(handle, None)[:n_classes ** 2]
    if truth and matrix != metrics.confusion_matrix(
            truth, predicted, labels=labels).flatten().tolist():
        wrong.append(f"confusion matrix: {matrix}")
    return wrong


def look(n_classes, truth, predicted, dice):
    handle = counted(n_classes, truth, predicted, dice)
    labels = list(range(n_classes))
    wrong = (compare_means(handle, truth, predicted, None, 0)
             + compare_means(handle, truth, predicted, labels, 1)
             + compare_classes(handle, n_classes, truth, predicted))
    tare.tare_classify_free(handle)
    return wrong


def main():
    warnings.simplefilter("ignore")
    dice, checks, wrong, absent, empty = random.Random(7), library.Checks(), \
        [], 0, 0
    for i in range(CASES):
        n_classes, truth, predicted = case(dice)
        absent += len(set(truth) | set(predicted)) < n_classes
        empty += not truth
        try:
            found = look(n_classes, truth, predicted, dice)
        except ValueError as error:
            if truth:
                raise
            # Later ones refuse to say anything about nothing.
            found = [] if "empty" in str(error) else [str(error)]
        wrong += [f"case {i} {truth} {predicted}: {text}" for text in found]
    checks.check(not wrong, f"{CASES} cases are as scikit-learn's",
                 "\n".join(wrong[:5]))
    checks.check(absent > 200, "classes were absent in many", absent)
    checks.check(empty > 20, "some had no pairs", empty)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
