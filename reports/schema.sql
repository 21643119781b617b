-- The history of op-report: one SQLite file (application_id 0x4F504B54, user_version 2). docs/history.md has queries.
-- A night is one series of runs of one commit; a run is one process of op-harness.

-- name: the day or what `./nightly` called it.
CREATE TABLE IF NOT EXISTS night (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, commit_id TEXT NOT NULL, dirty INTEGER NOT NULL,
  UNIQUE (name, commit_id, dirty));

CREATE TABLE IF NOT EXISTS environment (
  id INTEGER PRIMARY KEY, host TEXT NOT NULL, cpu TEXT NOT NULL, cores INTEGER NOT NULL, os TEXT NOT NULL,
  compiler TEXT NOT NULL, build TEXT NOT NULL,
  UNIQUE (host, cpu, cores, os, compiler, build));

-- name: the run's own id. content: a hash of its first `lines` lines. at: seconds since 1970 by which runs are ordered;
-- `started` unless the clock went backwards within a file.
CREATE TABLE IF NOT EXISTS run (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, content INTEGER NOT NULL, lines INTEGER NOT NULL,
  night INTEGER NOT NULL REFERENCES night, environment INTEGER NOT NULL REFERENCES environment,
  at INTEGER NOT NULL, started TEXT NOT NULL, outcome TEXT NOT NULL, planned INTEGER, written INTEGER NOT NULL,
  command TEXT NOT NULL, version TEXT NOT NULL, seed TEXT NOT NULL);

-- machine: processor and cores, for devices that are the processor: their uuid is the same everywhere.
CREATE TABLE IF NOT EXISTS device (
  id INTEGER PRIMARY KEY, backend TEXT NOT NULL, name TEXT NOT NULL, driver TEXT NOT NULL, uuid TEXT NOT NULL,
  machine TEXT NOT NULL, software INTEGER NOT NULL,
  UNIQUE (backend, name, driver, uuid, machine));

-- One row per device of a run: the speed of the machine and of the device when the run began, if it was measured.
CREATE TABLE IF NOT EXISTS calibration (
  run INTEGER NOT NULL REFERENCES run, device INTEGER NOT NULL REFERENCES device,
  loop_ns REAL, copy_bytes_per_ns REAL, flops_per_ns REAL, bytes_per_ns REAL,
  PRIMARY KEY (run, device)) WITHOUT ROWID;

-- A case of a kind. hash: of kind and case_id, to find it.
CREATE TABLE IF NOT EXISTS item (
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, case_id TEXT NOT NULL, op TEXT NOT NULL, dtype TEXT NOT NULL,
  hash INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS item_hash ON item (hash);

-- An item on a device. options: of the run, if they change the device or the kernels: "--mask no-fp16".
CREATE TABLE IF NOT EXISTS subject (
  id INTEGER PRIMARY KEY, item INTEGER NOT NULL REFERENCES item, device INTEGER NOT NULL REFERENCES device,
  options TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS subject_item ON subject (item);

-- What a case gave, except for times. Equal outcomes of many runs are one row, and so are equal texts of many outcomes.
-- bits, shader: 64-bit hashes, NULL if there is none. variant: from 0 on.
CREATE TABLE IF NOT EXISTS conclusion (
  id INTEGER PRIMARY KEY, provider TEXT NOT NULL, kernel TEXT NOT NULL, status TEXT NOT NULL, failed_check TEXT NOT NULL,
  reason TEXT NOT NULL,
  UNIQUE (provider, kernel, status, failed_check, reason));
-- text: the command that repeats a case; {id} stands for the case's id, quoted for a shell.
CREATE TABLE IF NOT EXISTS command (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS outcome (
  subject INTEGER NOT NULL REFERENCES subject, variant INTEGER NOT NULL, conclusion INTEGER NOT NULL REFERENCES conclusion,
  margin REAL, max_ulp REAL, max_abs REAL, nmse REAL, bits INTEGER, shader INTEGER, shader_bytes INTEGER,
  arena_bytes INTEGER, allocations INTEGER, dispatches INTEGER, command INTEGER NOT NULL REFERENCES command,
  PRIMARY KEY (subject, variant)) WITHOUT ROWID;
-- us: microseconds that the case took in the run.
CREATE TABLE IF NOT EXISTS seen (
  run INTEGER NOT NULL REFERENCES run, subject INTEGER NOT NULL, variant INTEGER NOT NULL, us INTEGER,
  PRIMARY KEY (run, subject, variant)) WITHOUT ROWID;

-- Times in ns: the least sample of one process run. Nine digits are kept.
CREATE TABLE IF NOT EXISTS series (
  id INTEGER PRIMARY KEY, subject INTEGER NOT NULL REFERENCES subject, provider TEXT NOT NULL, metric TEXT NOT NULL,
  UNIQUE (subject, provider, metric));
CREATE TABLE IF NOT EXISTS value (
  series INTEGER NOT NULL REFERENCES series, run INTEGER NOT NULL REFERENCES run, value REAL NOT NULL,
  PRIMARY KEY (series, run)) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS mutation (
  run INTEGER NOT NULL REFERENCES run, backend TEXT NOT NULL, subject TEXT NOT NULL, killed INTEGER NOT NULL,
  survived INTEGER NOT NULL, equivalent INTEGER NOT NULL, invalid INTEGER NOT NULL,
  PRIMARY KEY (run, backend, subject)) WITHOUT ROWID;

-- The lines of the newest nights' runs without plain passes, compressed by zlib, for `op-report build`.
CREATE TABLE IF NOT EXISTS lines (run INTEGER PRIMARY KEY REFERENCES run, bytes INTEGER NOT NULL, text BLOB NOT NULL);

CREATE VIEW outcomes AS
  SELECT device.backend, device.name AS device, kind, op, dtype, case_id, options, subject, variant, provider, kernel,
         status, failed_check, reason, margin, max_ulp, max_abs, nmse,
         CASE WHEN bits IS NULL THEN '' ELSE printf('%016x', bits) END AS bits,
         CASE WHEN shader IS NULL THEN '' ELSE printf('%016x', shader) END AS shader,
         shader_bytes, arena_bytes, allocations, dispatches,
         replace(command.text, '{id}', CASE WHEN case_id GLOB '*[^A-Za-z0-9./_+:=@-]*'
                                            THEN '''' || replace(case_id, '''', '''\''''') || '''' ELSE case_id END) AS repro
  FROM outcome JOIN conclusion ON conclusion.id = outcome.conclusion JOIN command ON command.id = outcome.command
       JOIN subject ON subject.id = outcome.subject JOIN item ON item.id = subject.item
       JOIN device ON device.id = subject.device;
CREATE VIEW results AS
  SELECT night.name AS night, night.commit_id, run.at, run.name AS run, outcomes.*, us
  FROM seen JOIN outcomes ON outcomes.subject = seen.subject AND outcomes.variant = seen.variant
       JOIN run ON run.id = seen.run JOIN night ON night.id = run.night;
CREATE VIEW times AS
  SELECT night.name AS night, night.commit_id, run.at, run.name AS run, device.backend, device.name AS device, item.kind,
         item.op, item.dtype, item.case_id, subject.options, series.provider, series.metric, value.value AS ns
  FROM value JOIN series ON series.id = value.series JOIN subject ON subject.id = series.subject
       JOIN item ON item.id = subject.item JOIN device ON device.id = subject.device JOIN run ON run.id = value.run
       JOIN night ON night.id = run.night;
