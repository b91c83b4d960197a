#!/bin/sh
# image.sh LAYOUT TAG [WORD]: a small image made by hand of Debian's busybox-static, in a layout on
# disk; WORD is in it, so that two images of one tag differ. Needs busybox and umoci, no root.
set -eu
layout=$1 tag=$2 word=${3:-first}
tree=$(mktemp -d)
trap 'chmod -R u+rwX "$tree"; rm -rf "$tree"' EXIT
[ -e "$layout/index.json" ] || umoci init --layout "$layout" >/dev/null 2>&1
umoci new --image "$layout:$tag" >/dev/null 2>&1
umoci unpack --rootless --image "$layout:$tag" "$tree/bundle" >/dev/null 2>&1
root=$tree/bundle/rootfs
mkdir -p "$root/bin" "$root/etc" "$root/mnt" "$root/tmp" "$root/var/tmp"
cp "$(command -v busybox)" "$root/bin/busybox"
for applet in $(busybox --list); do
  [ "$applet" = busybox ] || ln -s busybox "$root/bin/$applet"
done
ln -s bin "$root/sbin"
echo "$word" >"$root/etc/word"
printf 'root:x:0:0::/:/bin/sh\nnina:x:1234:55::/:/bin/sh\n' >"$root/etc/passwd"
umoci repack --image "$layout:$tag" "$tree/bundle" >/dev/null 2>&1
umoci config --image "$layout:$tag" --config.env GREETING=hello \
  --config.cmd /bin/echo --config.cmd "from the image" >/dev/null 2>&1
