#!/bin/sh
# A Kubernetes control plane (etcd, API server, controller manager, scheduler) and a
# stand-in for the kubelet of one node, which runs the pods' commands as processes.
# PORT is the API server; PORT+1 to PORT+5 belong to the other parts.
# DIR/kubeconfig is the administrator's; DIR/kubectl uses it.
. "$(dirname "$0")/lib.sh"
VERSION=1.35.4
ETCD=3.6.8
BIN=
HERE=$(cd "$(dirname "$0")" && pwd)

install() {
  BIN=$OPT/kubernetes-$VERSION
  mkdir -p "$BIN"
  [ -e "$BIN/.ready" ] && return 0

  tree=$OPT/src/etcd-$ETCD
  go_source go.etcd.io/etcd/server/v3 "v$ETCD" "$tree"
  # Its replace directives point at sibling folders that are modules of their own.
  sed -i '/^replace (/,/^)/d; /^replace /d' "$tree/go.mod"
  go_build "$tree" "$BIN/etcd" .

  tree=$OPT/src/kubernetes-$VERSION
  go_source k8s.io/kubernetes "v$VERSION" "$tree"
  # Likewise the staging folders: what is 1.x.y here is published there as 0.x.y.
  sed -i "s|=> \./staging/src/\(k8s.io/[a-z-]*\)|=> \1 v0.${VERSION#1.}|" "$tree/go.mod"
  LDFLAGS="-X k8s.io/component-base/version.gitVersion=v$VERSION"
  for part in kube-apiserver kube-controller-manager kube-scheduler kubectl; do
    go_build "$tree" "$BIN/$part" "./cmd/$part"
  done
  LDFLAGS=

  touch "$BIN/.ready"
}

configure() {
  if [ ! -e "$DIR/etc/token" ]; then
    (umask 077
      openssl genrsa -out "$DIR/etc/accounts.key" 2048 2>/dev/null
      openssl rand -hex 16 >"$DIR/etc/token"
      echo "$(cat "$DIR/etc/token"),admin,admin,system:masters" >"$DIR/etc/tokens.csv")
  fi
  printf '#!/bin/sh\nexec "%s" --kubeconfig "%s" "$@"\n' "$BIN/kubectl" "$DIR/kubeconfig" >"$DIR/kubectl"
  chmod +x "$DIR/kubectl"
}

write_kubeconfig() { # once the API server has made its certificate
  (umask 077 && cat >"$DIR/kubeconfig") <<CONF
apiVersion: v1
kind: Config
current-context: test
contexts: [{name: test, context: {cluster: test, user: admin}}]
clusters:
- name: test
  cluster:
    server: https://127.0.0.1:$PORT
    certificate-authority-data: $(base64 -w0 "$DIR/etc/certs/apiserver.crt")
users: [{name: admin, user: {token: $(cat "$DIR/etc/token")}}]
CONF
}

start() {
  need_apt openssl openssl
  install
  configure
  etcd=http://127.0.0.1:$((PORT + 1))
  spawn etcd "$BIN/etcd" --data-dir "$DIR/data/etcd" --unsafe-no-fsync --log-level warn \
    --listen-client-urls "$etcd" --advertise-client-urls "$etcd" \
    --listen-peer-urls "http://127.0.0.1:$((PORT + 2))" \
    --initial-advertise-peer-urls "http://127.0.0.1:$((PORT + 2))" \
    --initial-cluster "default=http://127.0.0.1:$((PORT + 2))"
  wait_for etcd 30 port_open $((PORT + 1))
  spawn apiserver "$BIN/kube-apiserver" --etcd-servers "$etcd" \
    --bind-address 127.0.0.1 --advertise-address 127.0.0.1 --secure-port "$PORT" \
    --cert-dir "$DIR/etc/certs" --token-auth-file "$DIR/etc/tokens.csv" --authorization-mode RBAC \
    --service-account-issuer "https://127.0.0.1:$PORT" --service-cluster-ip-range 10.0.0.0/24 \
    --service-account-key-file "$DIR/etc/accounts.key" \
    --service-account-signing-key-file "$DIR/etc/accounts.key" --endpoint-reconciler-type none
  wait_for apiserver 60 test -s "$DIR/etc/certs/apiserver.crt"
  write_kubeconfig
  wait_for apiserver 60 "$DIR/kubectl" get --raw /readyz
  spawn controllers "$BIN/kube-controller-manager" --kubeconfig "$DIR/kubeconfig" \
    --bind-address 127.0.0.1 --secure-port $((PORT + 3)) --leader-elect=false \
    --service-account-private-key-file "$DIR/etc/accounts.key" \
    --root-ca-file "$DIR/etc/certs/apiserver.crt"
  spawn scheduler "$BIN/kube-scheduler" --kubeconfig "$DIR/kubeconfig" \
    --bind-address 127.0.0.1 --secure-port $((PORT + 4)) --leader-elect=false
  [ -e "$DIR/etc/kubelet.pem" ] || (umask 077 && openssl req -x509 -newkey rsa:2048 -nodes -days 30 \
    -subj /CN=n0 -keyout "$DIR/etc/kubelet.pem" -out "$DIR/etc/kubelet.crt" 2>/dev/null &&
    cat "$DIR/etc/kubelet.crt" >>"$DIR/etc/kubelet.pem")
  spawn kubelet python3 "$HERE/kubelet.py" "$DIR" "$PORT" $((PORT + 5))
  wait_for kubelet 60 ready
  echo "https://127.0.0.1:$PORT KUBECONFIG=$DIR/kubeconfig"
}

ready() { # the node, and the account that pods of the default namespace run under
  "$DIR/kubectl" get nodes --no-headers | grep -qw Ready &&
    "$DIR/kubectl" get serviceaccount default
}

init "$@"
case $ACTION in start) start ;; stop) halt ;; esac
