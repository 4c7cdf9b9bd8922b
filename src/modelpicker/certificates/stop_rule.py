"""The parts of a rule that says when to stop, described once: a gap, a confidence, and a kind of certificate."""

from modelpicker.options import Option

GAP = Option(
    "gap",
    float,
    "By how much the best model may be better, as a fraction of accuracy: 0.01 is 1 %.",
    0.01,
    low=0.0,
    high=1.0,
    below=True,
    wanted="a fraction of accuracy from 0 up and below 1, such as 0.01",
)
CONFIDENCE = Option(
    "confidence",
    float,
    "Confidence of the certificate: how likely it is never wrong, whenever you look.",
    0.95,
    low=0.0,
    above=True,
    high=1.0,
    below=True,
    wanted="a number above 0 and below 1, such as 0.95",
)
LABEL_NOISE = Option(
    "label_noise",
    float,
    "The probability that a label is wrong, at most. Statements allow for it: they are wider.",
    0.0,
    low=0.0,
    high=0.5,
    below=True,
    wanted="a probability from 0 up and below 0.5, such as 0.02",
)
KIND = Option(
    "kind",
    str,
    "What the certificate is about. population: the models' accuracies, if items are drawn independently from one "
    "source. stream: the items seen so far, whatever they are.",
    "population",
    choices=("stream", "population"),
    title="Certified for",
)
STOP_RULE = (GAP, CONFIDENCE, KIND)
