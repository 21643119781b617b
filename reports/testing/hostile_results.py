#!/usr/bin/env python3
"""Writes hostile files of results, and compares the pages that op-report makes of them with harmless ones.

Usage: hostile_results.py write FOLDER            writes hostile.jsonl and its harmless twin, numbers.jsonl, long.jsonl
       hostile_results.py million FILE [CASES]    writes a file of so many cases
       hostile_results.py same HOSTILE HARMLESS   two pages have the same elements and attributes, and no other script
"""
import collections
import html.parser
import json
import random
import sys

STATUSES = ['pass', 'fail', 'crash', 'hang', 'unsupported', 'skip', 'fallback', 'mistrusted', 'unproved', 'expected',
            'flake', 'unexpected']
MARKUP = ['<script>document.title = "planted"</script>', '</script><script>document.title = "planted"</script>',
          '<img src=x onerror=\'document.title = "planted"\'>', '"><svg onload=document.title="planted">',
          "' onmouseover='document.title=1' x='", '{{headlines}}{{{map}}}{{#rows}}', '{{/rows}}{{^any}}{{! }}{{=<% %>=}}',
          '</title></style></textarea><!--', ']]><!DOCTYPE html><body onload=document.title="planted">', '&lt;b&gt;&#60;i>',
          '\\u003cscript\\u003e', '`${document.title="planted"}`', '<a href="javascript:document.title=1">link</a>',
          '</table></td></tr></details></div>', '\\"};document.title="planted";//', '\u2028document.title="planted"\u2029',
          'a\x00b\x01\x08\x1b[2J\x7f\x85', '\u202edetnalp\u202c\ufeff', "'; DROP TABLE run; --", '%s%n{}{0}', '../../etc/passwd',
          '\U0001f9ea µ → ∞', '\r\n\tx', '__proto__', 'constructor', ' ', '#', '\\', '&']
NUMBERS = ['nan', 'inf', '-inf', 0, -0.0, -1, 1e308, -1e308, 5e-324, 1e-300, 4.2e15, 1.5]


class Texts:
    """Hands out hostile texts in turn, or harmless ones that are as different from each other."""

    def __init__(self, harmless):
        self.harmless, self.next, self.known = harmless, 0, {}

    def __call__(self, prefix=''):
        text = prefix + MARKUP[self.next % len(MARKUP)] + str(self.next // len(MARKUP))
        self.next += 1
        return self.of(text)

    def of(self, text):
        if not self.harmless:
            return text
        return self.known.setdefault(text, f'text {len(self.known)}')


def time(number):
    return {'min': number(), 'median': number(), 'mad': number(), 'samples': [number() for _ in range(3)], 'cpu': number()}


def case(text, number, kind, op, backend, status, identity):
    return {
        'record': 'case', 'kind': kind, 'id': identity, 'op': op, 'backend': backend, 'status': status,
        'durationNs': number(), 'name': text(), 'dtype': 'f32', 'device': text(), 'provider': text(), 'kernel': text(),
        'reason': text(), 'note': text(), 'opinion': text(), 'departures': [text()], 'checks': [text()],
        'failedCheck': text(), 'notRun': {text(): text(), text(): text()}, 'diagnosis': {'kind': text(), 'text': text()},
        'map': text().replace('#', '').replace('+', ''),
        'accuracy': {'elements': 3, 'margin': number(), 'maxAbs': number(), 'maxRel': number(), 'maxUlp': number(),
                     'nmse': number(), 'tolerance': number(), 'worst': text(), 'expected': number(), 'got': number()},
        'fallbacks': [{'node': text(), 'op': text(), 'reason': text()}], 'roofline': number(), 'roof': text(),
        'times': {name: time(number) for name in ('create', 'resizeCold', 'resizeWarm', 'executeWall', 'executeDevice',
                                                  'executeKernel', text())},
        'flops': number(), 'bytes': number(), 'digest': text(), 'shader': text(), 'repro': text(), 'rerun': 'fail',
        'layers': [{'tensor': text(), 'op': text(), 'maxAbs': number(), 'maxUlp': number(), 'nmse': number(),
                    'margin': number(), 'status': 'fail'}],
        'expectation': {'line': text(), 'reason': text(), 'status': 'fail'},
        'access': {'efficiency': number(), 'requestBytes': number(), 'requests': number(), 'footprintBytes': number(),
                   'bankPasses': number(), 'lanes': number(), 'estimateNs': {'typical': number(), text(): number()},
                   'limits': {text(): text()}},
    }


def lines(text, number):
    """A run in which every text is `text()` and every number `number()`."""
    for n in range(3):
        run = f'{n:016x}'
        yield {'record': 'plan', 'night': text()}
        yield {'record': 'run', 'run': run, 'schema': 3, 'tool': text(), 'version': text(), 'command': text(),
               'planned': {text(): 12}, 'started': '2026-01-01T00:00:00Z' if n else text(), 'commit': text(),
               'compiler': text(), 'build': text(), 'host': text(), 'os': text(), 'cpu': text()}
        backends = [text.of('<b>cpu</b>'), text.of('"vulkan\'>')]
        for backend in backends:
            yield {'record': 'device', 'run': run, 'backend': backend, 'name': text(), 'driver': text(), 'uuid': text(),
                   'profile': {text(): text()}, 'calibration': {'loopNs': number(), 'copyBytesPerNs': number()},
                   'roof': {'flopsPerNs': number(), 'bytesPerNs': number(), 'launchNs': number(), 'clockRatio': number()}}
        for i, status in enumerate(STATUSES):
            for kind in ('check', 'bench', 'roof', 'conformance', 'model', 'access'):
                op, identity = text.of(f'Op{i % 4}{MARKUP[i]}') if i % 4 else 'Relu', text.of(f'{kind} {i} {MARKUP[-i]}')
                yield {'run': run, **case(text, number, kind, op, backends[i % 2], status, identity)}
        yield {'record': 'mutant', 'run': run, 'subject': text(), 'backend': text(), 'where': text(), 'before': text(),
               'after': text(), 'fate': text(), 'by': text(), 'repro': text()}
        yield {'record': 'summary', 'run': run, 'outcome': text() if n else 'complete', 'ended': text(), 'part': text()}


def write_lines(path, records):
    with open(path, 'w', encoding='utf-8') as file:
        for record in records:
            file.write(json.dumps(record) + '\n')


def write(folder):
    fixed = lambda: 2.5
    write_lines(f'{folder}/hostile.jsonl', lines(Texts(False), fixed))
    write_lines(f'{folder}/harmless.jsonl', lines(Texts(True), fixed))
    draw = random.Random(1)
    write_lines(f'{folder}/numbers.jsonl', lines(Texts(True), lambda: draw.choice(NUMBERS)))
    megabyte = [MARKUP[0] * 25000, '#' * 1000000, '\n'.join(['#+' * 500] * 1000), 'x ' * 500000]
    run = {'record': 'run', 'schema': 3, 'run': '00000000000000aa', 'command': 'check', 'started': '2026-01-01T00:00:00Z'}
    write_lines(f'{folder}/long.jsonl', [run] + [
        {'record': 'case', 'kind': kind, 'id': f'{kind}{i}', 'op': 'Relu', 'backend': 'cpu', 'status': status,
         'reason': text, 'map': text, 'repro': text, 'diagnosis': {'kind': 'x', 'text': text}, 'notRun': {'poison': text},
         'provider': text[:1000], 'note': text[:1000]}
        for i, text in enumerate(megabyte) for kind, status in (('check', 'fail'), ('check', 'unsupported'))
        if i < 3 or status == 'fail'])


def million(path, count=1000000):
    """Failures with a reason each, timed cases and passes of ever new operators."""
    count = int(count)
    with open(path, 'w', encoding='utf-8') as file:
        file.write('{"record":"run","schema":3,"run":"00000000000000aa","command":"check","started":"2026-01-01T00:00:00Z"}\n')
        for i in range(count):
            kind, op = ('check', 'bench')[i % 2], f'Op{i % 5000}' if i % 4 < 2 else 'Relu'
            status = 'fail' if i % 8 == 0 else 'unsupported' if i % 8 == 2 else 'pass'
            word = ''.join(chr(97 + int(d)) for d in str(i))  # numbers do not make a reason another one
            further = f'"reason":"because of {word}","repro":"op-harness check --case {i}"' if status != 'pass' else '"flops":1e6'
            if kind == 'bench':
                further += ',"times":{"executeWall":{"min":%d,"median":%d,"mad":1,"samples":[%d]}}' % (i + 1, i + 2, i + 2)
            file.write(f'{{"record":"case","run":"00000000000000aa","kind":"{kind}","id":"{op}/f32[{i}]","op":"{op}","dtype":"f32",'
                       f'"backend":"cpu","provider":"opkit","status":"{status}",{further}}}\n')
        file.write('{"record":"summary","run":"00000000000000aa","outcome":"complete"}\n')


class Elements(html.parser.HTMLParser):
    """Counts elements with the names of their attributes, and the texts of scripts."""

    def __init__(self, path):
        super().__init__()
        self.counts, self.scripts, self.in_script = collections.Counter(), collections.Counter(), False
        self.feed(open(path, encoding='utf-8', newline='').read())

    def handle_starttag(self, tag, attributes):
        self.counts[tag, tuple(sorted(name for name, _ in attributes))] += 1
        self.in_script = tag == 'script'
        self.kind = dict(attributes).get('type') or ''

    def handle_endtag(self, tag):
        self.in_script = False
        self.counts['/' + tag, ()] += 1

    def handle_comment(self, data):
        self.counts['comment', ()] += 1

    def handle_data(self, data):
        if self.in_script and self.kind not in ('application/json', 'text/plain'):
            self.scripts[data] += 1


def same(hostile, harmless):
    a, b = Elements(hostile), Elements(harmless)
    problems = [f'{tag} {names}: {a.counts[tag, names]}, not {b.counts[tag, names]}'
                for tag, names in sorted(set(a.counts) | set(b.counts)) if a.counts[tag, names] != b.counts[tag, names]]
    if a.scripts != b.scripts:
        problems.append('a script is another one')
    if sum(b.counts.values()) < 500:
        problems.append('too few elements to compare')
    for problem in problems[:20]:
        print(f'hostile_results: {hostile}: {problem}', file=sys.stderr)
    return 1 if problems else 0


if __name__ == '__main__':
    command, *arguments = sys.argv[1:]
    sys.exit({'write': write, 'million': million, 'same': same}[command](*arguments))
