#!/usr/bin/env python3
"""Fails each call of a command once: files cannot be opened, read, written, renamed or removed, memory is refused.

Usage: fail_calls.py [--sample N] [--seed N] [--only TEXT] [--most N] SOURCE BIN HARNESS SCRATCH
  SOURCE, BIN    the source tree, and the folder of the programs
  HARNESS        the folder of libopkit_fail_calls.so (fail_target.h) and `careless`, a program with planted faults
  --sample N     about N calls, drawn by the seed, over all commands; else every call, and of allocations the first 200 of a
                 command and 200 others
  --most N       of one class of a command at most N calls, drawn by the seed (default: all)
  --seed N       of the draws (default: the number of the day)
  --only TEXT    the commands whose name starts with TEXT, or one call: `add:write:3`

A command whose call failed must say so in one line with the cause and a name, and end with exit code 2; or its outcome is
complete, and what an undisturbed run leaves. Either way each file is the old one or the new one, and nothing else is left. A
history is sound. A command that is killed around a rename, unlink or mkdir completes its work when it is started again.
Planted faults must be found. The last lines count the calls of each command.
"""
import argparse
import collections
import concurrent.futures
import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fail_rows  # noqa: E402
from fail_state import State  # noqa: E402

ERRORS = {'open': (errno.EMFILE, errno.EIO, errno.EACCES), 'read': (errno.EIO,), 'sync': (errno.EIO,),
          'rename': (errno.EXDEV, errno.EIO), 'unlink': (errno.EACCES,), 'mkdir': (errno.ENOSPC,), 'truncate': (errno.EIO,),
          'close': (errno.EIO,), 'list': (errno.EMFILE,), 'stat': (errno.EIO,), 'alloc': (errno.ENOMEM,)}
FIRST, DRAWN = 200, 200  # allocations
OLD_BUILD = 'was built of other sources'  # somebody edits the tree meanwhile


class Command:
    """A row in its fixture: how it ends undisturbed, and how with one failed call."""

    def __init__(self, row, options):
        self.row, self.options = row, options
        self.fixture = f'{options.scratch}/fixtures/{row.fixture}'
        self.before = State(self.fixture)
        folder = self.copy('calm')
        self.calm, self.calls, _ = self.start(folder)
        self.after = State(folder, self.before)
        shutil.rmtree(folder)
        self.injected, self.held = collections.Counter(), collections.Counter()

    def copy(self, name):
        folder = f'{self.options.scratch}/runs/{self.row.name.replace(" ", "-")}-{name}'
        return shutil.copytree(self.fixture, folder, symlinks=True)

    def start(self, folder, fail=''):
        """Runs the command; returns how it ended, the number of calls by class, and what failed (nothing: no call did)."""
        record = folder + '.calls'
        environment = dict(os.environ, LC_ALL='C', OPKIT_CACHE_DIR='off', LD_PRELOAD=self.options.library,
                           OPKIT_FAIL_BELOW=folder, OPKIT_FAIL_COUNT=record, **self.row.environment)
        if fail:
            environment['OPKIT_FAIL'] = fail
        try:
            ended = subprocess.run(self.row.command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                                   timeout=self.row.timeout if fail else 60, check=False)
        except subprocess.TimeoutExpired:
            ended = None
        lines = []
        if os.path.exists(record):
            with open(record, encoding='utf-8', errors='replace') as file:
                lines = [line.rstrip('\n').split(' ', 2) for line in file]
            os.remove(record)
        return ended, {line[0]: int(line[1]) for line in lines if line[0] != 'failed'}, [line[2] for line in lines if line[0] == 'failed']

    def missing(self):
        """Complaints about the undisturbed run."""
        if self.calm is None or self.calm.returncode not in (self.row.code, 1 - self.row.code):
            return [f'{self.row.name}: does not run undisturbed: {self.calm.stderr if self.calm else "it hangs"}']
        return [f'{self.row.name}: it has no call of class {name}' for name in self.row.needs.split() if not self.calls.get(name)]

    def injections(self):
        """(class, text for OPKIT_FAIL) of every call that is to fail."""
        draw, most = random.Random(f'{self.options.seed} {self.row.name}'), self.options.most
        chosen = []
        for name in self.row.classes:
            numbers = list(range(1, self.calls.get(name, 0) + 1))
            if name == 'alloc' and len(numbers) > FIRST + DRAWN:
                numbers = numbers[:FIRST] + sorted(draw.sample(numbers[FIRST:], DRAWN))
            if most and len(numbers) > most:
                numbers = sorted(draw.sample(numbers, most))
            for number in numbers:
                if name == 'write':
                    chosen += [(name, f'write:{number}:{errno.ENOSPC}'), (name, f'write:{number}:short')]
                else:
                    error = ERRORS[name][number % len(ERRORS[name])]
                    chosen.append((name, f'{name}:{number}:{error}'))
        if self.row.moves:
            chosen += [('kill', f'{name}:{number}') for number in range(1, self.calls['moves'] + 1) for name in ('kill', 'killafter')]
        return chosen

    def inject(self, name, fail):
        """Runs the command with a failed call; returns a complaint, or nothing."""
        folder = self.copy(fail.replace(':', '-'))
        ended, _, failed = self.start(folder, fail)
        if not failed and ended is not None:
            complaint = None if name == 'alloc' or not self.row.same_output else 'the call did not come'
        else:
            self.injected[name] += 1
            complaint = self.killed(ended, folder) if name == 'kill' else self.verdict(ended, folder, fail, failed)
            self.held[name] += complaint is None
        shutil.rmtree(folder)
        if complaint:
            path = failed[0].replace(folder + '/', '') if failed else ''
            complaint = f'{self.row.name}:{fail.rsplit(":", 1)[0] if name != "kill" else fail}: {fail.rsplit(":", 1)[1]} {path}: {complaint}'
        return complaint

    def killed(self, ended, folder):
        if ended is None or ended.returncode != -signal.SIGKILL:
            return 'it was not killed'
        if self.row.repeats:
            again, _, _ = self.start(folder)
            if again is None or again.returncode != self.calm.returncode:
                return f'killed, it fails when it is started again: {again.stderr.decode() if again else "it hangs"}'
            return State(folder, self.before, self.after).difference(self.after)
        self.finish(folder)
        now = State(folder, self.before, self.after)
        if now.difference(self.before, empty_may_stay=True) and now.difference(self.after, empty_may_stay=True):
            return now.neither(self.before, self.after)
        return None

    def finish(self, folder):
        """The next command in the tree undoes or completes what an ended one has begun."""
        subprocess.run([*self.row.command[:3], 'list'], cwd=folder, env=dict(os.environ, **self.row.environment), check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def verdict(self, ended, folder, fail, failed):
        if ended is None:
            return f'it hangs: no end after {self.row.timeout} s'
        error = ended.stderr.decode(errors='replace')
        if ended.returncode < 0:
            return f'ended by signal {-ended.returncode}: {error}'
        if self.row.whole and ended.returncode == 0:
            self.finish(folder)  # a journal that could not be removed
        now = State(folder, self.before, self.after)
        if ended.returncode == self.calm.returncode == 2:
            return now.difference(self.before) or (None if error.count('\n') == 1 else f'expected one line: {error}')
        if ended.returncode == self.calm.returncode:
            complaint = now.difference(self.after, empty_may_stay=self.row.whole)  # git knows no empty folders
            # op-scaffold names the folder where it cannot tell whether it is the current one.
            same = not self.row.same_output or fail.startswith('stat') or ended.stdout == self.calm.stdout
            if not complaint and not same:
                complaint = f'stdout is not that of an undisturbed run: {ended.stdout[:300]!r}'
            return complaint and f'exit code {ended.returncode}, but {complaint} (stderr: {error[:300]})'
        if ended.returncode != 2:
            return f'expected exit code 2, got {ended.returncode}: {error}'
        known = set(self.calm.stderr.decode(errors='replace').splitlines())
        lines = [line for line in error.splitlines() if line not in known and OLD_BUILD not in line]
        if len(lines) != 1:
            return f'expected one line, got {len(lines)}: {error}'
        return self.unnamed(lines[0], fail, failed) or now.neither(self.before, self.after, each=not self.row.whole)

    def unnamed(self, line, fail, failed):
        """A complaint if the line lacks the cause, or a name."""
        name, _, how = fail.split(':')
        if name == 'alloc':
            return None if 'memory' in line else f'expected a word of memory: {line}'
        cause = os.strerror(errno.ENOSPC if how == 'short' else int(how))
        if cause not in line:
            return f'expected the cause "{cause}": {line}'
        names = {os.path.basename(path) for path in (*self.before.paths(), *self.after.paths(), failed[0])}
        return None if any(name in line for name in names if name) else f'expected a name: {line}'


def drawn(commands, options):
    """(command, class, injection), all of them or a sample of each command."""
    every = [(command, *injection) for command in commands for injection in command.injections()]
    if options.only and options.only.count(':') >= 1:
        return [one for one in every if f'{one[0].row.name}:{one[2]}'.startswith(options.only + ':')
                or f'{one[0].row.name}:{one[2]}' == options.only]
    if not options.sample:
        return every
    draw, chosen = random.Random(options.seed), []
    each = max(1, options.sample // max(1, sum(not command.row.name.startswith('planted') for command in commands)))
    for command in commands:
        mine = [one for one in every if one[0] is command]
        if command.row.name.startswith('planted'):
            chosen += mine
            continue
        for _ in range(each):
            name = draw.choice(sorted({one[1] for one in mine}))
            one = draw.choice([one for one in mine if one[1] == name])
            chosen.append(one)
            mine.remove(one)
    return chosen


def judge(commands, complaints):
    """Prints the counts; True if every call held, and each planted fault was found."""
    bad = 0
    for command in commands:
        mine, row = complaints[command], command.row
        print(f'{row.name}: ' + ', '.join(f'{name} {count}' for name, count in command.calls.items() if count) + f'; '
              f'{sum(command.injected.values())} failed, {sum(command.held.values())} held')
        bad += sum(command.injected.values()) == 0
        if not sum(command.injected.values()):
            print(f'FAIL {row.name}: no call failed', file=sys.stderr)
        if row.complaint:
            if not any(row.complaint in text for text in mine):
                bad += 1
                print(f'FAIL {row.name}: expected "{row.complaint}", got {mine}', file=sys.stderr)
        else:
            bad += len(mine)
    return bad == 0


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--sample', type=int, default=0)
    parser.add_argument('--most', type=int, default=0)
    parser.add_argument('--seed', type=int, default=int(time.time()) // 86400)
    parser.add_argument('--only', default='')
    for name in ('source', 'binaries', 'harness', 'scratch'):
        parser.add_argument(name, type=os.path.abspath)
    options = parser.parse_args()
    options.library = options.harness + '/libopkit_fail_calls.so'
    return options


def main():
    options = parse()
    print(f'fail_calls: --seed {options.seed}', flush=True)
    shutil.rmtree(options.scratch, ignore_errors=True)
    fixtures = options.scratch + '/fixtures'
    os.makedirs(options.scratch + '/runs')
    os.environ.update(OPKIT_CACHE_DIR='off', HOME=options.scratch)
    fail_rows.make_reports(options.source, options.binaries, fixtures + '/reports')
    fail_rows.make_checks(fixtures + '/checks', fixtures + '/reports')
    fail_rows.make_trees(options.source, options.binaries + '/op-scaffold', (fixtures + '/tree', fixtures + '/nudged'))
    fail_rows.make_planted(fixtures + '/planted')
    rows = [*fail_rows.report_rows(options.binaries), *fail_rows.other_rows(options.binaries),
            *fail_rows.planted_rows(options.harness + '/careless')]
    only = options.only.split(':')[0]
    rows = [row for row in rows if (row.name == only if ':' in options.only else row.name.startswith(only))]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        commands = list(pool.map(lambda row: Command(row, options), rows))
        missing = [text for command in commands for text in command.missing()]
        complaints = {command: [] for command in commands}
        tasks = [(one[0], pool.submit(one[0].inject, *one[1:])) for one in drawn(commands, options) if not missing]
        for command, task in tasks:
            text = task.result()
            if text:
                complaints[command].append(text)
                if not command.row.complaint:
                    print(f'FAIL {text}', file=sys.stderr, flush=True)
    for text in missing:
        print(f'FAIL {text}', file=sys.stderr)
    if missing or not judge(commands, complaints):
        sys.exit(1)
    shutil.rmtree(options.scratch)


if __name__ == '__main__':
    main()
