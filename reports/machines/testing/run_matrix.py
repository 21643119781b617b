"""Runs the jobs of reports/machines/ci-matrix.yml here, one after another. Each job gets its own copy of a tree; a folder
holds the artifacts. Knows only the actions and expressions that the file uses; anything else ends with a message and 2.
Usage: run_matrix.py WORKFLOW TREE FOLDER [--lose ARTIFACT]
FOLDER gets jobs/<job>[-<shard>], artifacts/<name> and <job>[-<shard>].log. Exit code 1 if a step failed."""

import glob
import itertools
import os
import re
import shutil
import subprocess
import sys

import yaml


def refuse(message):
    print(f"run_matrix: {message}", file=sys.stderr)
    sys.exit(2)


class Job:
    """One job with one entry of its matrix."""

    def __init__(self, name, steps, values, tree, folder):
        self.name, self.steps, self.values, self.tree, self.folder = name, steps, values, tree, folder
        self.work = os.path.join(folder, "jobs", name)
        self.failed = False

    def expand(self, text):
        def value(match):
            if match[1] not in self.values:
                refuse(f"{self.name}: unknown expression '{match[1]}'")
            return str(self.values[match[1]])

        return re.sub(r"\$\{\{\s*(.*?)\s*\}\}", value, str(text))

    def command(self, text, log):
        done = subprocess.run(["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", self.expand(text)],
                              cwd=self.work, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            print(f"run_matrix: {self.name}: '{self.expand(text)}' ended with {done.returncode}")
            self.failed = True

    def action(self, name, options):
        artifacts = os.path.join(self.folder, "artifacts")
        options = {key: self.expand(value) for key, value in options.items()}
        if name == "actions/checkout@v4":
            shutil.copytree(self.tree, self.work, symlinks=True, dirs_exist_ok=True)
        elif name == "actions/upload-artifact@v4":
            source = os.path.join(self.work, options["path"])
            target = os.path.join(artifacts, options["name"])
            if os.path.isdir(source):
                shutil.copytree(source, target)
            elif os.path.exists(source):
                os.makedirs(target)
                shutil.copy(source, target)
            else:
                print(f"run_matrix: {self.name}: nothing to upload: {options['path']}")
        elif name == "actions/download-artifact@v4":
            for found in glob.glob(os.path.join(artifacts, options["pattern"])):
                shutil.copytree(found, os.path.join(self.work, options["path"], os.path.basename(found)))
        elif name != "actions/cache@v4":
            refuse(f"{self.name}: unknown action '{name}'")

    def run(self):
        os.makedirs(self.work)
        with open(os.path.join(self.folder, self.name + ".log"), "w") as log:
            for step in self.steps:
                if step.get("if", "always()") != "always()":
                    refuse(f"{self.name}: unknown condition '{step['if']}'")
                if self.failed and "if" not in step:
                    continue
                if "run" in step:
                    self.command(step["run"], log)
                else:
                    self.action(step["uses"], step.get("with", {}))
        return not self.failed


def entries(job):
    """The values of each entry of the job's matrix; one empty entry if it has none."""
    matrix = job.get("strategy", {}).get("matrix", {})
    found = [dict(zip(matrix, values)) for values in itertools.product(*matrix.values())]
    return [({f"matrix.{key}": value for key, value in entry.items()} |
             {"strategy.job-total": len(found), "github.run_id": 4711}, list(entry.values())) for entry in found]


def main(workflow, tree, folder, lost=None):
    with open(workflow) as file:
        jobs = yaml.safe_load(file)["jobs"]
    good, done = True, set()
    for name, job in jobs.items():
        needed = {job["needs"]} if "needs" in job else set()
        if not needed <= done:
            refuse(f"{name}: needs {needed - done}, which did not run before")
        if not good and job.get("if") != "always()":
            continue
        for values, labels in entries(job):
            label = "-".join([name, *map(str, labels)])
            good = Job(label, job["steps"], values, tree, folder).run() and good
        if lost:
            shutil.rmtree(os.path.join(folder, "artifacts", lost), ignore_errors=True)
        done.add(name)
    return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) not in (4, 6) or (len(sys.argv) == 6 and sys.argv[4] != "--lose"):
        refuse("expected WORKFLOW TREE FOLDER [--lose ARTIFACT]")
    sys.exit(main(*sys.argv[1:4], *sys.argv[5:]))
