"""Features of words from the definition: the names of a position's features, one word at a time."""

import re
from collections import Counter


def shape(word):
    kinds = "".join(
        "X" if c.isupper() or c.istitle() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in word
    )
    return re.sub(r"(.)\1+", r"\1", kinds, flags=re.DOTALL)


def names(maker, sentence, k):
    """Names of the features of position k."""
    fold = str.lower if maker.lowercase else str
    out = set()
    for shift in range(-maker.radius, maker.radius + 1):
        name = "word" + (f"{shift:+d}" if shift else "")
        inside = 0 <= k + shift < len(sentence)
        out.add(f"{name}={fold(sentence[k + shift]) if inside else ''}")
    word = sentence[k]
    for n in range(1, maker.affixes + 1):
        if len(word) >= n:
            out |= {f"prefix{n}={fold(word)[:n]}", f"suffix{n}={fold(word)[-n:]}"}
    for shift in (-1, 1) if maker.radius else ():
        if 0 <= k + shift < len(sentence):
            near = sentence[k + shift]
            out |= {
                f"suffix{n}{shift:+d}={fold(near)[-n:]}" for n in range(1, maker.near_affixes + 1) if len(near) >= n
            }
            if maker.shapes:
                out.add(f"shape{shift:+d}={shape(near)}")
    if maker.shapes:
        out.add(f"shape={shape(word)}")
    if maker.char_ngrams:
        marked = f"^{fold(word)}$"
        for n in range(maker.char_ngrams[0], maker.char_ngrams[1] + 1):
            out |= {f"ngram={marked[i : i + n]}" for i in range(len(marked) - n + 1)}
    return out


def rows(maker, learnt, sentences):
    """Names of every position's features, those that are frequent enough in the sentences learnt from."""
    counts = Counter(name for sentence in learnt for k in range(len(sentence)) for name in names(maker, sentence, k))
    known = {name for name, count in counts.items() if count >= maker.min_count}
    return [names(maker, sentence, k) & known for sentence in sentences for k in range(len(sentence))]
