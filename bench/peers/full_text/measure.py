"""The same tasks and questions in SQLite's FTS5 and PostgreSQL's full text search: time to build, size, and time to answer.

Usage: measure.py FOLDER [--psql "psql -h HOST -p PORT -U USER"]. FOLDER holds tasks.tsv and questions.tsv as `atelier-bench search
--tables` writes them. Only words are searched here; there is no leg for meanings. Both get what helps them: the workspace
is a word of the index in FTS5, and an index beside the GIN index in PostgreSQL; times are those inside the database, without a client.
"""

import argparse
import os
import shlex
import sqlite3
import subprocess
import time


def rows(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            yield line.rstrip("\n").split("\t", 2)


def percentile(times, share):
    return times[int((len(times) - 1) * share)]


def tell(name, built, size, times, found, count):
    times.sort()
    parts = " ".join(f"{percentile(times, share):8.2f}" for share in (0.5, 0.95, 0.99, 1.0))
    print(f"{name:<22} build {built:7.1f} s {size / 1048576:8.1f} MiB  p50 p95 p99 max ms {parts}  in 8 {found / count:.3f}")


def fts5(folder):
    path = os.path.join(folder, "fts5.sqlite")
    if os.path.exists(path):
        os.remove(path)
    db = sqlite3.connect(path)
    db.execute("pragma synchronous = off")
    db.execute("create virtual table tasks using fts5(place, words, content='', tokenize='unicode61')")
    began = time.perf_counter()
    with db:
        stream = ((int(number), "w" + place, words) for number, place, words in rows(os.path.join(folder, "tasks.tsv")))
        db.executemany("insert into tasks (rowid, place, words) values (?, ?, ?)", stream)
    db.execute("insert into tasks (tasks) values ('optimize')")
    db.commit()
    built = time.perf_counter() - began
    times, found, count = [], 0, 0
    for number, place, words in rows(os.path.join(folder, "questions.tsv")):
        asked = " OR ".join(f'"{word}"' for word in words.split())
        began = time.perf_counter()
        answer = db.execute(
            "select rowid from tasks where tasks match ? order by bm25(tasks, 0.0, 1.0) limit 20",
            (f"place: w{place} AND words: ({asked})",),
        ).fetchall()
        times.append((time.perf_counter() - began) * 1e3)
        found += int(number) in [row[0] for row in answer[:8]]
        count += 1
    tell("SQLite FTS5", built, os.path.getsize(path), times, found, count)


def postgres(folder, psql):
    def run(sql, *more):
        command = shlex.split(psql) + ["-q", "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", *more, "-c", sql]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    run("drop table if exists tasks; drop table if exists questions; drop table if exists answers")
    run("create table tasks (number bigint, place int, words text); create table questions (number bigint, place int, words text)")
    began = time.perf_counter()
    for table in ("tasks", "questions"):
        path = os.path.abspath(os.path.join(folder, table + ".tsv"))
        run(f"\\copy {table} from '{path}'")
    run("alter table tasks add column found tsvector; update tasks set found = to_tsvector('simple', words)")
    run("create index by_words on tasks using gin (found); create index by_place on tasks (place); vacuum analyze tasks")
    built = time.perf_counter() - began
    size = int(run("select pg_indexes_size('tasks')"))
    # Measured inside the database: no client, no network.
    run(
        "create table answers (ms double precision, found boolean); "
        "do $$ declare q record; began timestamptz; ids bigint[]; begin "
        "for q in select * from questions loop began := clock_timestamp(); "
        "select array_agg(number) into ids from (select number from tasks where place = q.place "
        "and found @@ to_tsquery('simple', array_to_string(regexp_split_to_array(q.words, '\\s+'), ' | ')) "
        "order by ts_rank_cd(found, to_tsquery('simple', array_to_string(regexp_split_to_array(q.words, '\\s+'), ' | '))) desc limit 20) best; "
        "insert into answers values (extract(epoch from clock_timestamp() - began) * 1000, q.number = any (ids[1:8])); "
        "end loop; end $$"
    )
    lines = [line.split("|") for line in run("select ms, coalesce(found, false) from answers").splitlines()]
    times = [float(line[0]) for line in lines]
    tell("PostgreSQL full text", built, size, times, sum(line[1] == "t" for line in lines), len(lines))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--psql")
    arguments = parser.parse_args()
    fts5(arguments.folder)
    if arguments.psql:
        postgres(arguments.folder, arguments.psql)


main()
