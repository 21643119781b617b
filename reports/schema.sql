-- The history of op-report: one SQLite file (application_id 0x4F504B54, user_version 1). docs/history.md has queries.
-- A night is one series of runs of one commit; a run is one process of op-harness.

-- name: the day or what `./nightly` called it.
CREATE TABLE night (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, commit_id TEXT NOT NULL, dirty INTEGER NOT NULL,
  UNIQUE (name, commit_id, dirty));

CREATE TABLE environment (
  id INTEGER PRIMARY KEY, host TEXT NOT NULL, cpu TEXT NOT NULL, cores INTEGER NOT NULL, os TEXT NOT NULL,
  compiler TEXT NOT NULL, build TEXT NOT NULL,
  UNIQUE (host, cpu, cores, os, compiler, build));

-- name: the run's own id. content: a hash of its first `lines` lines. at: seconds since 1970 by which runs are ordered;
-- `started` unless the clock went backwards within a file.
CREATE TABLE run (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, content INTEGER NOT NULL, lines INTEGER NOT NULL,
  night INTEGER NOT NULL REFERENCES night, environment INTEGER NOT NULL REFERENCES environment,
  at INTEGER NOT NULL, started TEXT NOT NULL, outcome TEXT NOT NULL, planned INTEGER, written INTEGER NOT NULL,
  command TEXT NOT NULL, version TEXT NOT NULL, seed TEXT NOT NULL);

-- machine: processor and cores, for devices that are the processor: their uuid is the same everywhere.
CREATE TABLE device (
  id INTEGER PRIMARY KEY, backend TEXT NOT NULL, name TEXT NOT NULL, driver TEXT NOT NULL, uuid TEXT NOT NULL,
  machine TEXT NOT NULL, software INTEGER NOT NULL,
  UNIQUE (backend, name, driver, uuid, machine));

-- One row per device of a run: the speed of the machine and of the device when the run began, if it was measured.
CREATE TABLE calibration (
  run INTEGER NOT NULL REFERENCES run, device INTEGER NOT NULL REFERENCES device,
  loop_ns REAL, copy_bytes_per_ns REAL, flops_per_ns REAL, bytes_per_ns REAL,
  PRIMARY KEY (run, device)) WITHOUT ROWID;

-- A case on a device. options: of the run, if they change the device or the kernels: "--mask no-fp16".
CREATE TABLE subject (
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, case_id TEXT NOT NULL, op TEXT NOT NULL, dtype TEXT NOT NULL,
  device INTEGER NOT NULL REFERENCES device, options TEXT NOT NULL,
  UNIQUE (kind, case_id, device, options));

-- What a case gave, except for times. Equal outcomes of many runs are one row; content is a hash of the row.
CREATE TABLE outcome (
  id INTEGER PRIMARY KEY, subject INTEGER NOT NULL REFERENCES subject, content INTEGER NOT NULL,
  provider TEXT NOT NULL, kernel TEXT NOT NULL, status TEXT NOT NULL, failed_check TEXT NOT NULL, reason TEXT NOT NULL,
  margin REAL, max_ulp REAL, max_abs REAL, nmse REAL, bits TEXT NOT NULL, shader TEXT NOT NULL, shader_bytes INTEGER,
  arena_bytes INTEGER, allocations INTEGER, dispatches INTEGER, repro TEXT NOT NULL,
  UNIQUE (subject, content));
CREATE TABLE seen (
  run INTEGER NOT NULL REFERENCES run, outcome INTEGER NOT NULL REFERENCES outcome,
  PRIMARY KEY (run, outcome)) WITHOUT ROWID;

-- Times in ns: the least sample of one process run. Nine digits are kept.
CREATE TABLE series (
  id INTEGER PRIMARY KEY, subject INTEGER NOT NULL REFERENCES subject, provider TEXT NOT NULL, metric TEXT NOT NULL,
  UNIQUE (subject, provider, metric));
CREATE TABLE value (
  series INTEGER NOT NULL REFERENCES series, run INTEGER NOT NULL REFERENCES run, value REAL NOT NULL,
  PRIMARY KEY (series, run)) WITHOUT ROWID;

CREATE TABLE mutation (
  run INTEGER NOT NULL REFERENCES run, backend TEXT NOT NULL, subject TEXT NOT NULL, killed INTEGER NOT NULL,
  survived INTEGER NOT NULL, equivalent INTEGER NOT NULL, invalid INTEGER NOT NULL,
  PRIMARY KEY (run, backend, subject)) WITHOUT ROWID;

-- The lines of the newest nights' runs, compressed by zlib, for `op-report build`.
CREATE TABLE lines (run INTEGER PRIMARY KEY REFERENCES run, bytes INTEGER NOT NULL, text BLOB NOT NULL);

CREATE VIEW results AS
  SELECT night.name AS night, night.commit_id, run.at, run.name AS run, device.backend, device.name AS device,
         subject.kind, subject.op, subject.dtype, subject.case_id, subject.options, outcome.*
  FROM seen JOIN outcome ON outcome.id = seen.outcome JOIN subject ON subject.id = outcome.subject
       JOIN device ON device.id = subject.device JOIN run ON run.id = seen.run JOIN night ON night.id = run.night;
CREATE VIEW times AS
  SELECT night.name AS night, night.commit_id, run.at, run.name AS run, device.backend, device.name AS device,
         subject.kind, subject.op, subject.dtype, subject.case_id, subject.options, series.provider, series.metric,
         value.value AS ns
  FROM value JOIN series ON series.id = value.series JOIN subject ON subject.id = series.subject
       JOIN device ON device.id = subject.device JOIN run ON run.id = value.run JOIN night ON night.id = run.night;
