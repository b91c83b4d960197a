#!/bin/sh
# OpenSSH's server on 127.0.0.1, with keys and a configuration of its own.
# A client logs in as who runs this, with DIR/etc/user; the host's key is DIR/etc/host.pub.
# SSHD_HOST=1: on a host of its own, with its processes and its /srv, which go with it (root).
. "$(dirname "$0")/lib.sh"

configure() {
  for key in host user; do
    [ -e "$DIR/etc/$key" ] || ssh-keygen -q -t ed25519 -N '' -C '' -f "$DIR/etc/$key"
  done
  cp "$DIR/etc/user.pub" "$DIR/etc/allowed"
  cat >"$DIR/etc/sshd_config" <<CONF
ListenAddress 127.0.0.1:$PORT
HostKey $DIR/etc/host
PidFile none
AuthorizedKeysFile $DIR/etc/allowed
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
Subsystem sftp internal-sftp
CONF
}

start() {
  need_apt /usr/sbin/sshd openssh-server
  [ "$(id -u)" != 0 ] || mkdir -p /run/sshd # where it gives up its rights
  configure
  own=
  [ -z "${SSHD_HOST:-}" ] || own="unshare --mount --pid --fork --kill-child --mount-proc sh -c"
  serve="/usr/sbin/sshd -D -e -f $DIR/etc/sshd_config"
  # The shell reaps what sessions leave behind, as the first process of a host does.
  if [ -n "$own" ]; then spawn sshd $own "mount -t tmpfs tmpfs /srv; (exec ${serve}) & wait"
  else spawn sshd $serve; fi
  wait_for sshd 10 port_open "$PORT"
}

init "$@"
case $ACTION in start) start ;; stop) halt ${SSHD_HOST:+KILL} ;; esac
