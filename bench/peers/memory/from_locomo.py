"""Turns LoCoMo's file into one that `cargo xtask bench memory --conversations` reads: from_locomo.py locomo10.json > locomo.json

Categories 1 to 4; questions whose evidence names no turn are left out.
"""

import datetime
import json
import re
import sys


def moment(text):
    return int(datetime.datetime.strptime(text + " +0000", "%I:%M %p on %d %B, %Y %z").timestamp())


def converted(sample):
    talk = sample["conversation"]
    sessions, ids = [], set()
    names = [name for name in talk if re.fullmatch(r"session_\d+", name) and talk[name]]
    for name in sorted(names, key=lambda name: int(name.split("_")[1])):
        turns = []
        for turn in talk[name]:
            picture = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            turns.append({"id": turn["dia_id"], "speaker": turn["speaker"], "text": turn["text"] + picture})
            ids.add(turn["dia_id"])
        sessions.append({"id": name, "at": moment(talk[f"{name}_date_time"]), "turns": turns})
    questions = []
    for asked in sample["qa"]:
        named = re.findall(r"D\d+:\d+", " ".join(asked.get("evidence", [])))
        evidence = sorted(ids.intersection(named))
        if evidence and asked["category"] in (1, 2, 3, 4):
            questions.append({"question": asked["question"], "evidence": evidence, "category": str(asked["category"])})
    return {"id": str(sample["sample_id"]), "sessions": sessions, "questions": questions}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        samples = json.load(file)
    json.dump({"conversations": [converted(sample) for sample in samples]}, sys.stdout, ensure_ascii=False)


main()
