# A cluster of one node for tests, with its own key, socket and ports: munged, slurmctld, slurmd. All files are in its
# folder. Sourced; the caller stops it in a trap.

daemons=()
startDaemon() {  # LOG COMMAND...
  local log=$1
  shift
  "$@" >"$log" 2>&1 </dev/null &
  daemons+=($!)
}

freePort() {
  local port
  while port=$((20000 + RANDOM % 12000)); (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
  echo "$port"
}

# Needs neither systemd nor rights on control groups: Slurm finds the processes of a job by their parents.
writeConfiguration() {  # FOLDER
  local folder=$1 host
  host=$(hostname -s)
  echo 'CgroupPlugin=cgroup/v1' >"$folder/cgroup.conf"
  cat >"$folder/slurm.conf" <<EOF
ClusterName=opkit
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(freePort)
SlurmdPort=$(freePort)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$folder/munge.sock
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
JobRequeue=0
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1
NodeName=one NodeHostname=$host NodeAddr=127.0.0.1 CPUs=2
PartitionName=all Nodes=one Default=YES MaxTime=INFINITE State=UP
EOF
}

# startCluster FOLDER: true when the node takes jobs. Sets SLURM_CONF.
startCluster() {
  local folder=$1
  mkdir -p "$folder/state" "$folder/spool"
  chmod 755 "$folder"
  (umask 077 && head -c 128 /dev/urandom >"$folder/munge.key")
  writeConfiguration "$folder"
  export SLURM_CONF=$folder/slurm.conf
  startDaemon "$folder/munged.log" munged --foreground --force --key-file="$folder/munge.key" \
    --socket="$folder/munge.sock" --pid-file="$folder/munged.pid" --seed-file="$folder/munged.seed" \
    --log-file="$folder/munged.log"
  for _ in $(seq 100); do [ ! -S "$folder/munge.sock" ] || break; sleep 0.1; done
  startDaemon "$folder/slurmctld.log" slurmctld -D
  startDaemon "$folder/slurmd.log" slurmd -D -N one
  for _ in $(seq 300); do
    [ "$(sinfo --noheader --format %T 2>/dev/null)" != idle ] || return 0
    sleep 0.1
  done
  return 1
}

# Ends the jobs, then the daemons, the last one first.
stopCluster() {
  local index
  [ ${#daemons[@]} -eq 0 ] || timeout 10 scancel --quiet --full --user "$(id -un)" 2>/dev/null
  for ((index = ${#daemons[@]} - 1; index >= 0; --index)); do
    kill "${daemons[index]}" 2>/dev/null
    for _ in $(seq 100); do kill -0 "${daemons[index]}" 2>/dev/null || break; sleep 0.1; done
    kill -9 "${daemons[index]}" 2>/dev/null
  done
  daemons=()
}
