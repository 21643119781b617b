"""What a folder holds, such that two runs of one command can be compared."""
import hashlib
import json
import os
import re
import sqlite3

LEFT = 'is left'


def history(path):
    """The rows of a history; a text if it is damaged. A journal that undoes something is applied, as by the next reader."""
    try:
        database = sqlite3.connect(path)
        sound = database.execute('PRAGMA integrity_check').fetchone()[0]
        text = '\n'.join(database.iterdump())
        database.close()
    except sqlite3.Error as error:
        return f'unsound: {error}'
    return hashlib.sha256(text.encode()).hexdigest() if sound == 'ok' else f'unsound: {sound}'


def results(data, old):
    """Lines that `check` added to old ones: `complete` if the run ended, `begun` if whole lines are there."""
    if not data.startswith(old):
        return 'old lines are lost'
    if data == old:
        return hashlib.sha256(data).hexdigest()
    if not old.endswith(b'\n') and data[len(old):len(old) + 1] != b'\n':
        return 'a line stands behind a cut one'
    try:
        lines = [json.loads(line) for line in data[len(old):].decode().strip().splitlines()]
    except ValueError:
        return 'a line is cut'
    if not data.endswith(b'\n'):
        return 'the last line is cut'
    if not lines:
        return 'begun'
    cases = sorted((line['id'], line['status']) for line in lines if line['record'] == 'case')
    ended = lines[-1]['record'] == 'summary' and lines[-1]['outcome'] == 'complete'
    return f'complete {cases}' if ended else 'begun'


def without_times(data):
    """JUnit and evidence name times and the moment; the rest is the same in each run."""
    text = re.sub(rb'[0-9a-f]{16}|[0-9][0-9.:TZ-]*', b'#', data)
    return hashlib.sha256(text).hexdigest()


class State:
    """Files and folders by path; the contents of equal meaning are equal."""

    def __init__(self, folder, *known):
        self.raw, self.meaning = {}, {}
        known_raw = {}
        for state in known:
            known_raw.update({(path, raw): state.meaning[path] for path, raw in state.raw.items()})
        self.old = known[0].old if known else {}
        for path in sorted(self.walk(folder), key=lambda path: not path.endswith('.sqlite')):
            full = f'{folder}/{path}'
            if not os.path.lexists(full):  # a journal that was applied
                continue
            if os.path.isdir(full):
                self.raw[path] = self.meaning[path] = 'folder'
                continue
            with open(full, 'rb') as file:
                data = file.read()
            if path == 'results.jsonl':
                self.old.setdefault(path, data)
            self.raw[path] = hashlib.sha256(data).hexdigest()
            is_plain = not os.path.exists(full + '-journal')
            self.meaning[path] = (is_plain and known_raw.get((path, self.raw[path]))) or self.meant(path, full, data)

    @staticmethod
    def walk(folder):
        for at, folders, files in os.walk(folder):
            for name in (*folders, *files):
                yield os.path.relpath(os.path.join(at, name), folder)

    def meant(self, path, full, data):
        if path.endswith('.sqlite'):
            return history(full)
        if path == 'results.jsonl':
            return results(data, self.old[path])
        return without_times(data) if path in ('junit.xml', 'evidence.md') else self.raw[path]

    def paths(self):
        return self.meaning

    def is_empty(self, path):
        return self.meaning[path] == 'folder' and not any(other.startswith(path + '/') and meaning != 'folder'
                                                          for other, meaning in self.meaning.items())

    def difference(self, expected, empty_may_stay=False):
        """A complaint if this is not `expected`; further folders without a file may be harmless."""
        for path, meaning in expected.meaning.items():
            if path not in self.meaning:
                return f'{path} is lost'
            if self.meaning[path] != meaning:
                return f'{path} is not what an undisturbed run leaves: {self.meaning[path][:80]}'
        for path in self.meaning:
            if path not in expected.meaning and not (empty_may_stay and self.is_empty(path)):
                return f'{path} {LEFT}'
        return None

    def neither(self, before, after, each=False):
        """A complaint if this is neither `before` nor `after`; with `each`, file by file."""
        if not each:
            return self.difference(before) and self.difference(after) and \
                f'it is neither the old nor the new tree: {self.difference(before)}; {self.difference(after)}'
        for path in {**before.meaning, **self.meaning}:
            if path not in before.meaning and path not in after.meaning:
                return f'{path} {LEFT}'
            if path not in self.meaning:
                if path in after.meaning:
                    return f'{path} is lost'
            elif self.meaning[path] not in (before.meaning.get(path), after.meaning.get(path), 'begun'):
                return f'{path} is neither the old nor the new file: {self.meaning[path][:80]}'
        return None
