#!/usr/bin/env python3
"""Compares the figures of the report page and of the terminal with figures computed here from the raw lines of results.

Shares no code with op-report: it reads JSON lines, HTML tables and printed text. Prints every difference; exit code 1 if
there is one.
Usage: figures.py OP-REPORT RESULTS SCRATCH
"""
import base64
import html.parser
import json
import math
import os
import re
import subprocess
import sys
import zlib

problems, compared = [], 0
ENDINGS = ['passed', 'failed', 'failed as expected', 'flaky', 'unsupported', 'skipped', 'unproved']
FAILURES = ('fail', 'crash', 'hang', 'fallback', 'mistrusted', 'unexpected')
ENDING = {'pass': 'passed', 'expected': 'failed as expected', 'flake': 'flaky', 'unsupported': 'unsupported',
          'skip': 'skipped', 'unproved': 'unproved', **{name: 'failed' for name in FAILURES}}
UNITS = {'ns': 1, 'µs': 1e3, 'ms': 1e6, 's': 1e9}


def expect(where, wanted, found):
    global compared
    compared += 1
    if wanted != found:
        problems.append(f'{where}: expected {wanted!r}, found {found!r}')


def rounded(value, digits=3):
    """Significant digits, as a number."""
    return float(f'{value:.{digits}g}')


def expect_number(where, wanted, text, scale=1):
    """`text` shows `wanted` with three or four significant digits, or nothing if it is None."""
    if wanted is None or not text:
        return expect(where, None if wanted is None else f'{wanted:.6g}', text or None)
    found = float(text)
    same = math.isnan(wanted) and math.isnan(found) or found in (rounded(wanted / scale), rounded(wanted / scale, 4))
    expect(where, True, same or f'{text}, not {wanted / scale:.6g}')


def expect_time(where, ns, text):
    if ns is None or not text:
        return expect(where, ns, text or None)
    number, unit = text.split(' ')
    expect_number(where, ns, number, UNITS[unit])


def expect_share(where, share, text):
    expect_number(where, None if share is None else 100 * share, text.removesuffix(' %') if text else text)


# --- What the raw lines say --------------------------------------------------------------------------------------------
def number(value):
    return float(value) if isinstance(value, str) else value  # "nan", "inf"


def read(path):
    """The case lines, with the fields that lines of a run share put back."""
    commons, cases, run = {}, [], None
    for text in open(path, encoding='utf-8'):
        line = json.loads(text)
        if line['record'] == 'run':
            run = line.get('run')
        if line['record'] == 'common':
            commons[line.get('run', run), line['common']] = line
        if line['record'] != 'case':
            continue
        line.setdefault('run', run)
        for name in ('provider', 'kernel', 'notRun'):
            if line.get('common'):
                line[name] = commons[line['run'], line['common']].get(name)
        cases.append(line)
    return cases


def tally(cases):
    counts = dict.fromkeys(ENDINGS, 0)
    for case in cases:
        counts[ENDING[case['status']]] += 1
    return {name: count for name, count in counts.items() if count}


def worst(cases, name):
    """The largest error and its case; NaN is the largest."""
    best, of = 0.0, ''
    for case in cases:
        value = number(case.get('accuracy', {}).get(name, 0))
        if not math.isnan(best) and (math.isnan(value) or value > best):
            best, of = value, case['id']
    return best, of


def median_of(case, name):
    time = case.get('times', {}).get(name)
    return None if time is None else number(time['median'])


def middle(runs):
    ordered = sorted(runs, key=lambda case: median_of(case, 'executeWall') or -1)
    return ordered[len(ordered) // 2]


def kernel_of(case):
    return (case.get('provider') or '') + ('/' + case['kernel'] if case.get('kernel') else '')


def operators_of(cases):
    """By name: backends with their counts and worst values, and the timed cases."""
    operators = {}
    for case in cases:
        if case.get('op') and case['kind'] in ('check', 'bench'):
            operators.setdefault(case['op'], {'check': [], 'bench': []})[case['kind']].append(case)
    for one in operators.values():
        one['backends'] = {}
        for backend in sorted({case['backend'] for case in one['check']}):
            own = [case for case in one['check'] if case['backend'] == backend]
            one['backends'][backend] = {'counts': tally(own), 'margin': worst(own, 'margin'), 'ulp': worst(own, 'maxUlp'),
                                        'kernels': sorted({kernel_of(case) for case in own if case.get('provider')})}
        runs = {}
        for case in one['bench']:
            runs.setdefault((case['id'], case['backend'], case.get('provider') or ''), []).append(case)
        one['times'] = {}
        for key, own in runs.items():
            case = middle(own)
            wall, roofline = median_of(case, 'executeWall'), case.get('roofline') or None
            rate = lambda name: case[name] / wall if case.get(name) and wall else None
            one['times'][key[:2] + (kernel_of(case),)] = {
                'create': median_of(case, 'create'), 'cold': median_of(case, 'resizeCold'),
                'warm': median_of(case, 'resizeWarm'), 'wall': wall, 'device': median_of(case, 'executeDevice'),
                'gflops': rate('flops'), 'gbs': rate('bytes'), 'roofline': roofline, 'runs': len(own)}
    return operators


# --- What the page says ------------------------------------------------------------------------------------------------
class Page(html.parser.HTMLParser):
    """Tables as lists of rows of cell texts."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.cell, self.texts, self.open_paragraph = [], None, [], False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == 'table':
            self.tables.append([])
        if tag == 'tr':
            self.tables[-1].append([])
        if tag in ('td', 'th'):
            self.tables[-1][-1].append('')
            self.cell = self.tables[-1][-1]
        if tag == 'br' and self.cell:
            self.cell[-1] += '\n'
        if tag == 'p':
            self.texts.append('')
            self.open_paragraph = True

    def handle_endtag(self, tag):
        if tag in ('td', 'th'):
            self.cell = None
        if tag == 'p':
            self.open_paragraph = False

    def handle_data(self, data):
        if self.cell:
            self.cell[-1] += data
        elif self.open_paragraph:
            self.texts[-1] += data

    def tables_with(self, *heads):
        """Rows of tables that have these heads, as dictionaries."""
        for rows in self.tables:
            if rows and set(heads) <= set(rows[0]):
                for row in rows[1:]:
                    yield dict(zip(rows[0], row))


def counts_in(text):
    """'3 passed + 1 failed' as a dictionary, without zeros."""
    counts = {}
    for term in text.split(' + '):
        count, name = re.fullmatch(r'(\d+)(?: (.*))?', term.strip()).groups()
        counts[name or 'passed'] = int(count)
    return {name: count for name, count in counts.items() if count}


def check_headlines(cases, text, where):
    counts, failed = tally(cases), [case for case in cases if case['status'] in FAILURES]
    if failed:
        found = re.search(r'RED: (\d+) of (\d+) cases failed for \d+ reasons?, first (\S+) on (\w+)', text)
        expect(f'{where}, verdict', (str(len(failed)), str(len(cases)), failed[0]['id'], failed[0]['backend']),
               found and found.groups())
    else:
        expect(f'{where}, verdict', True, f'GREEN: {len(cases)} case' in text)
    share = re.search(r'(\d+) recorded = ((?:\d+ [a-z ]+?(?: \+ )?)+)\.', text)
    expect(f'{where}, recorded', (str(len(cases)), counts), share and (share.group(1), counts_in(share.group(2))))


def check_matrix(cases, page):
    cells = {}
    for case in cases:
        if case['kind'] == 'check' and case.get('op'):
            column = case['backend'] + (' ' + case['dtype'] if case.get('dtype') else '')
            cells.setdefault((case['op'], column), []).append(case)
    shown = 0
    for row in page.tables_with('operator', sorted(column for _, column in cells)[0]):
        for column, text in row.items():
            if column == 'operator' or text == '·':
                continue
            shown += 1
            counts, margin = text.split('\n')
            where = f"page, matrix, {row['operator']} {column}"
            own = cells[row['operator'], column]
            expect(where, tally(own), counts_in(counts))
            expect_share(f'{where}, margin', worst(own, 'margin')[0], margin)
    expect('page, cells of the matrix', len(cells), shown)


def operators_of_page(text):
    """By name, in the form of operators_of, from the data that the page's script shows; all values as texts."""
    packed = re.search(r'<script type="text/plain" id="data">([^<]*)</script>', text)[1]
    data = json.loads(zlib.decompress(base64.b64decode(packed, validate=True)))
    plain = lambda value: '' if value in (None, 0) else value if isinstance(value, str) else repr(value)
    share = lambda value: plain(value) and (value if isinstance(value, str) else f'{100 * value:.4g} %')
    nanoseconds = lambda value: plain(value) and f'{value} ns'
    found = {}
    for name, one in data['operators'].items():
        own = found[name] = {'backends': {}, 'times': {}}
        for row in one['backends']:
            own['backends'][row['backend']] = {
                'counts': counts_in(row['cases']), 'kernels': ', '.join(row['kernels']), 'worst': row['worst'],
                'margin': share(row['margin']), 'ulp': plain(row['ulp'])}
        for row in one['times']:
            key = row['case'], row['backend'], row['provider'] + ('/' + row['kernel'] if row['kernel'] else '')
            own['times'][key] = {
                'create': nanoseconds(row['create']), 'cold': nanoseconds(row['resizeCold']),
                'warm': nanoseconds(row['resizeWarm']), 'wall': nanoseconds(row['executeWall']),
                'device': nanoseconds(row['executeDevice']), 'gflops': plain(row['gflops']), 'gbs': plain(row['gbs']),
                'roofline': share(row['roof']), **({'runs': len(row['runs'])} if row['runs'] else {})}
        # The rows of the cases say the same as their sums.
        counts = {}
        for row in one['cases']:
            counts.setdefault(row[1], dict.fromkeys(ENDINGS, 0))[ENDING[row[2]]] += 1
        for backend, ended in counts.items():
            expect(f'page, cases of {name} on {backend}', {key: count for key, count in ended.items() if count},
                   own['backends'][backend]['counts'])
    return found


def is_cut_of(shown, text):
    """True if `shown` is the text, or its ends around an ellipsis."""
    before, dots, after = shown.partition('…')
    return shown == text or bool(dots) and text.startswith(before) and text.endswith(after)


def check_operators(wanted, found, where, names):
    for operator, one in wanted.items():
        own = found.get(operator, {'backends': {}, 'times': {}})
        expect(f'{where}, backends of {operator}', sorted(one['backends']), sorted(own['backends']))
        for backend, facts in one['backends'].items():
            at, shown = f'{where}, {operator} on {backend}', own['backends'].get(backend)
            if not shown:
                continue
            expect(f'{at}, cases', facts['counts'], shown['counts'])
            expect(f'{at}, kernels', ', '.join(facts['kernels']), shown['kernels'])
            (margin, of), ulp = facts['margin'], facts['ulp'][0]
            expect_share(f'{at}, margin', margin or None, shown['margin'])
            expect(f'{at}, worst case', True, is_cut_of(shown['worst'], of) or f"{shown['worst']}, not {of}")
            expect_number(f'{at}, ULP', ulp or None, shown['ulp'])
        expect(f'{where}, timed cases of {operator}', sorted(one['times']), sorted(own['times']))
        for key, facts in one['times'].items():
            shown = own['times'].get(key, {})
            for name in names:
                check = {'gflops': expect_number, 'gbs': expect_number, 'roofline': expect_share}.get(name, expect_time)
                check(f"{where}, {' '.join(key)}, {name}", facts[name], shown.get(name, ''))
            if 'runs' in shown:
                expect(f"{where}, {' '.join(key)}, process runs", facts['runs'], shown['runs'])


# --- What `op-report show` says ----------------------------------------------------------------------------------------
def operator_of_show(text):
    """In the form of operators_of_page."""
    found, backend, case, part = {'backends': {}, 'times': {}}, None, '', 'backends'
    # Continued lines.
    text = re.sub(r'\n {6}(?=\S)', ' ', text)
    text = re.sub(r'(\n  \w+: .*)\n {4}(?=\d|failed|passed|unproved|[+])', r'\1 ', text)
    for line in text.split('\n')[1:]:
        if re.match(r'\S', line):
            part = 'times' if line.startswith('Times: ') else 'other'
        elif part == 'backends' and (start := re.match(r'  (\w+): (.*)', line)):
            backend = found['backends'][start[1]] = {'counts': counts_in(start[2]), 'kernels': '', 'worst': '',
                                                     'margin': '', 'ulp': ''}
        elif part == 'backends' and backend:
            if share := re.fullmatch(r'    worst share of the bound (\S+(?: %)?) at (.*)', line):
                backend['margin'], backend['worst'] = share.groups()
            elif ulp := re.fullmatch(r'    worst ULP (\S+)', line):
                backend['ulp'] = ulp[1]
            elif kernels := re.fullmatch(r'    kernels (.*)', line):
                backend['kernels'] = kernels[1]
        elif part == 'times' and (time := re.fullmatch(r'    - (\w+)(?: ([^:]*))?: (.*)', line)):
            own = found['times'][case, time[1], time[2] or ''] = {'runs': 1}
            for figure in time[3].split(', '):
                for form, name in ((r'execute (.*)', 'wall'), (r'device (.*)', 'device'), (r'(.*) GFLOP/s', 'gflops'),
                                   (r'(.*) GB/s', 'gbs'), (r'(.*) of the roof', 'roofline')):
                    if matched := re.fullmatch(form, figure):
                        own[name] = matched[1]
                if matched := re.fullmatch(r'(\d+) process runs', figure):
                    own['runs'] = int(matched[1])
        elif part == 'times' and line.startswith('  '):
            case = line.strip()
    return found


# --- What `op-report compare` says -------------------------------------------------------------------------------------
def two_sided(t, degrees):
    """The two-sided p of Student's t, by integrating its density (Simpson, over the angle atan(t / sqrt(degrees)))."""
    # With t = sqrt(degrees) tan(a) the density becomes cos(a)^(degrees - 1), up to a factor.
    steps, begin = 20000, math.atan(abs(t) / math.sqrt(degrees))
    def tail(start):
        h = (math.pi / 2 - start) / steps
        value = lambda i: math.sin((steps - i) * h) ** (degrees - 1)  # cos(start + i h)
        return h / 3 * (value(0) + value(steps) + sum((4 if i % 2 else 2) * value(i) for i in range(1, steps)))
    return tail(begin) / tail(0)


def least_times(cases):
    times = {}
    for case in cases:
        for name, time in case.get('times', {}).items():
            times.setdefault((case['kind'], case['id'], case['backend']), {}).setdefault(name, []).append(time['min'])
    return times


def logs(values):
    mean = sum(map(math.log, values)) / len(values)
    return mean, sum((math.log(v) - mean) ** 2 for v in values) / (len(values) - 1) / len(values)


def check_compare(before, after, said):
    a, b = least_times(before), least_times(after)
    keys = lambda cases: {(case['kind'], case['id'], case['backend']) for case in cases}
    both, tested, alone = keys(before) & keys(after), {}, 0
    for key in both:
        for name in set(a.get(key, {})) & set(b.get(key, {})):
            x, y = a[key][name], b[key][name]
            if min(len(x), len(y)) < 2:
                alone += 1
            else:
                tested[key, name] = x, y
    sums = re.search(r'(\d+) cases in both files, (\d+) only in the first, (\d+) only in the second; (\d+) times tested, '
                     r'(\d+) of one process run alone', said)
    expect('compare, sums', (len(both), len(keys(before) - both), len(keys(after) - both), len(tested), alone),
           sums and tuple(map(int, sums.groups())))
    shown = {(found[1], found[2], found[3]): found for found in re.finditer(
        r'(\S+) on (\w+): (\w+) (\S+ \S+) -> (\S+ \S+) \(([+-][\d.]+) %, p = (\S+), (\d+) and (\d+) process runs\)', said)}
    expect('compare, changed times are shown', True, len(shown) >= 2)
    for ((_, case, backend), name), (x, y) in tested.items():
        found = shown.get((case, backend, name))
        if not found:
            continue
        (mean, variance), (mean2, variance2) = logs(x), logs(y)
        where = f'compare, {case} on {backend}, {name}'
        expect_time(f'{where}, before', math.exp(mean), found[4])
        expect_time(f'{where}, after', math.exp(mean2), found[5])
        expect(f'{where}, change', f'{100 * (math.exp(mean2 - mean) - 1):+.1f}', found[6])
        total = variance + variance2
        degrees = total ** 2 / (variance ** 2 / (len(x) - 1) + variance2 ** 2 / (len(y) - 1))
        p = two_sided((mean2 - mean) / math.sqrt(total), degrees)
        expect(f'{where}, p', True, abs(float(found[7]) - p) <= 0.06 * p or f'{found[7]}, not {p:.3g}')
        expect(f'{where}, process runs', (len(x), len(y)), (int(found[8]), int(found[9])))


def run(*command, codes=(0,)):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
                          env={**os.environ, 'LC_ALL': 'C.UTF-8'})
    expect(f'exit code of {command[1]}', True, done.returncode in codes or f'{done.returncode}: {done.stdout[-300:]}')
    return done.stdout


def main(program, results, scratch):
    cases = read(results)
    page_file = os.path.join(scratch, 'figures.html')
    said = run(program, 'build', results, '--output', page_file)
    text = open(page_file, encoding='utf-8').read()
    page = Page(text)
    check_headlines(cases, '\n'.join(page.texts), 'page')
    check_headlines(cases, said, 'build')
    check_matrix(cases, page)
    operators = operators_of(cases)
    check_operators(operators, operators_of_page(text), 'page',
                    ('create', 'cold', 'warm', 'wall', 'device', 'gflops', 'gbs', 'roofline'))
    shown = {name: operator_of_show(run(program, 'show', name, results)) for name in operators}
    check_operators(operators, shown, 'show', ('wall', 'device', 'gflops', 'gbs', 'roofline'))
    # Another build: later runs take other times.
    after = os.path.join(scratch, 'after.jsonl')
    lines = [json.loads(text) for text in open(results, encoding='utf-8')]
    for line in lines:
        for time in line.get('times', {}).values():
            time['min'] *= 1.5 if line['op'] == 'HandTimed' else 1
    # A case that is gone and one that is new.
    lines = [line for line in lines if line.get('id') != 'HandEndings/f32[1]']
    new = dict(next(line for line in lines if line.get('id') == 'HandEndings/f32[2]'), id='HandEndings/f32[999]')
    with open(after, 'w', encoding='utf-8') as file:
        for line in lines[:-1] + [new] + lines[-1:]:
            file.write(json.dumps(line) + '\n')
    check_compare(cases, read(after), run(program, 'compare', results, after, codes=(1,)))
    print(f'figures: {compared} figures compared, {len(operators)} operators, {len(cases)} cases')
    for problem in problems[:40]:
        print(f'figures: {problem}', file=sys.stderr)
    return 1 if problems or compared < 250 else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
