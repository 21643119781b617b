"""The commands that fail_calls.py disturbs, and the folders that they run in."""
import dataclasses
import datetime
import json
import os
import shutil
import sqlite3
import subprocess

CALLS = ('open', 'read', 'write', 'sync', 'rename', 'unlink', 'mkdir', 'truncate', 'close', 'list', 'stat', 'alloc')
TREE = ('ops/unary', 'ops/binary', 'ops/softmax', 'shaders/softmax', 'engine/backend/null', 'engine/op/op_def.h', '.clang-format',
        'engine/backend/CMakeLists.txt', 'engine/backend/backend_registry.cpp', 'engine/backend/backend_registry.h')


@dataclasses.dataclass
class Row:
    """One command. `needs` are the classes of calls that it must have, lest its test be empty."""
    name: str
    fixture: str
    command: list
    needs: str
    moves: bool = False           # it is killed around each rename, unlink and mkdir
    repeats: bool = True          # after a kill the same command completes the work; else the tree is as before or as after
    whole: bool = False           # on failure all files are old
    same_output: bool = True
    code: int = 0
    complaint: str = ''           # a planted fault: the verdict must hold this text
    classes: tuple = CALLS
    timeout: float = 60
    environment: dict = dataclasses.field(default_factory=dict)


def run_lines(path):
    with open(path, encoding='utf-8') as file:
        return [json.loads(line) for line in file]


def write_night(template, path, number, nights, cases):
    """A run of `cases` cases, made of the records of a small one: what a night `number` of `nights` leaves."""
    start = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=nights - number + 1)
    started = start.strftime('%Y-%m-%dT%H:%M:%SZ')
    models = [record for record in template if record['record'] == 'case']
    lines = []
    for record in template:
        if record['record'] == 'case':
            continue
        record = dict(record, run=f'run{number}')
        if record['record'] == 'run':
            record.update(started=started, commit=f'{number:040x}', planned={'cpu': cases})
        if record['record'] == 'summary':
            for i in range(cases):
                time = 1000 + 10 * i + number
                lines.append(dict(models[i % len(models)], run=f'run{number}', id=f'{models[i % len(models)]["id"]}{i}',
                                  times={'executeWall': {'min': time, 'median': time, 'mad': 1, 'samples': [time]}}))
            record.update(ended=started)
            record['pass'] = cases
        lines.append(record)
    with open(path, 'w', encoding='utf-8') as file:
        file.writelines(json.dumps(line) + '\n' for line in lines)


def checked(command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **options)


def make_reports(source, binaries, folder, cases=200):
    """Results, a history of three nights, one of version 1, and older files in the place of each output."""
    os.makedirs(folder)
    small = folder + '/small.jsonl'
    checked([binaries + '/op-harness', 'check', '--op', 'Relu', '--sample', '--backend', 'cpu', '--jobs', '1', '--json', small],
            stderr=subprocess.DEVNULL)
    template = run_lines(small)
    os.remove(small)
    for number in range(1, 5):
        write_night(template, f'{folder}/night{number}.jsonl', number, 4, cases)
    with open(folder + '/night4.jsonl', encoding='utf-8') as night, open(folder + '/vulkan.jsonl', 'w', encoding='utf-8') as other:
        other.write(night.read().replace('"backend": "cpu"', '"backend": "vulkan"').replace('{"cpu":', '{"vulkan":'))
    for number in range(1, 4):
        checked([binaries + '/op-report', 'add', f'{folder}/night{number}.jsonl', '--history', folder + '/history.sqlite'])
    database = sqlite3.connect(folder + '/version1.sqlite')
    with open(source + '/reports/testing/history1.sql', encoding='utf-8') as script:
        database.executescript(script.read())
    database.close()
    for name in ('page.html', 'page.json', 'merged.jsonl', 'device.md'):
        with open(f'{folder}/{name}', 'w', encoding='utf-8') as file:
            file.write('what an earlier command wrote\n')


def make_checks(folder, reports):
    os.makedirs(folder)
    shutil.copy(reports + '/night1.jsonl', folder + '/results.jsonl')
    with open(folder + '/results.jsonl', 'a', encoding='utf-8') as file:
        file.write('{"record":"case","run":"what a killed run has left')
    for name in ('junit.xml', 'evidence.md'):
        with open(f'{folder}/{name}', 'w', encoding='utf-8') as file:
            file.write('what an earlier command wrote\n')


def make_trees(source, scaffold, folders):
    """A few files of the source tree; then one with an operator of op-scaffold."""
    before, after = folders
    for path in TREE:
        target = f'{before}/{path}'
        os.makedirs(os.path.dirname(target), exist_ok=True)
        (shutil.copytree if os.path.isdir(f'{source}/{path}') else shutil.copy)(f'{source}/{path}', target)
    shutil.copytree(before, after)
    checked([scaffold, '--root', after, 'new', 'HardNudge', '--kind', 'rowwise'], env=dict(os.environ, PATH='/nowhere'))


def report_rows(binaries):
    report = binaries + '/op-report'
    read, written = 'open read close stat alloc', 'open read write rename close stat alloc'

    def row(name, arguments, needs, **more):
        return Row(name, 'reports', [report, *arguments.split()], needs, moves='rename' in needs or 'unlink' in needs, **more)
    return [
        row('add', 'add night4.jsonl --history history.sqlite', 'open read write sync unlink close stat alloc'),
        row('add to none', 'add night4.jsonl night1.jsonl --history none.sqlite', 'open read write sync unlink close stat alloc'),
        row('add to version 1', 'add night4.jsonl --history version1.sqlite', 'open read write sync unlink close stat alloc'),
        row('read version 1', 'history --history version1.sqlite', read),
        row('build', 'build night4.jsonl --output page.html --data page.json', written),
        row('build of a history', 'build --history history.sqlite --output page.html', written),
        row('build of both', 'build night4.jsonl --history history.sqlite --output page.html', written),
        row('merge', 'merge night1.jsonl night4.jsonl -o merged.jsonl', written),
        row('device', 'device vulkan.jsonl --output device.md', written),
        row('history', 'history --history history.sqlite --op Relu', read),
        row('detect', 'detect --history history.sqlite', read),
        row('show', 'show Relu night4.jsonl --history history.sqlite', read),
        row('compare', 'compare night1.jsonl night4.jsonl', read),
        # The file that it would replace is looked at first.
        row('refused merge', 'merge night1.jsonl night4.jsonl -o night4.jsonl', 'stat alloc', code=2),
        row('refused build', 'build night4.jsonl --output history.sqlite', 'open read close stat alloc', code=2),
    ]


def other_rows(binaries):
    check = [binaries + '/op-harness', 'check', '--op', 'Relu', '--sample', '--backend', 'cpu', '--jobs', '1', '--json', 'results.jsonl',
             '--junit', 'junit.xml', '--evidence', 'evidence.md']
    scaffold = [binaries + '/op-scaffold', '--root', '.']

    def change(name, fixture, arguments, needs):
        # Without clang-format, which takes most of the time.
        return Row(name, fixture, scaffold + arguments.split(), needs, moves=True, repeats=False, whole=True,
                   environment={'PATH': '/nowhere'})
    return [
        Row('check', 'checks', check, 'open read write rename close stat alloc', same_output=False),
        change('new', 'tree', 'new HardNudge --kind rowwise', 'open read write rename mkdir close list stat alloc'),
        change('rename', 'nudged', 'rename HardNudge SoftNudge', 'open read write rename unlink mkdir close list stat alloc'),
        change('remove', 'nudged', 'remove HardNudge', 'open read unlink close list stat alloc'),
    ]


def planted_rows(careless):
    """Each fault of harness/testing/careless.cpp gets the verdict on its kind; without a fault all calls hold."""
    def row(fault, classes, complaint, title='', **more):
        return Row(f'planted {title or fault}', 'planted', [careless, fault, 'from.txt', 'to.txt'], classes, complaint=complaint,
                   classes=tuple(classes.split()), **more)
    return [
        row('none', 'open read write rename', ''),
        row('none', 'alloc', 'ended by signal', title='no handler'),
        row('read', 'read', 'exit code 0, but'),
        row('write', 'write', 'exit code 0, but'),
        row('in-place', 'write', 'neither the old nor the new'),
        row('leftover', 'rename', 'is left'),
        row('silent', 'rename', 'expected one line'),
        row('lines', 'rename', 'expected one line'),
        row('hang', 'rename', 'hangs', timeout=1),
    ]


def make_planted(folder):
    os.makedirs(folder)
    for name, text in (('from.txt', 'new\n' * 40), ('to.txt', 'old\n' * 40)):
        with open(f'{folder}/{name}', 'w', encoding='utf-8') as file:
            file.write(text)
