#!/bin/sh
# Runs Node as this user where no sandbox can work: without capabilities, and in a user namespace that allows no other.
# It is used in place of the node program.
set -e
[ -n "$OCTANT_TEST_NODE" ] || exec echo "OCTANT_TEST_NODE must name the real one"
# Such a machine needs nothing done.
unshare --user true 2>/dev/null || exec "$OCTANT_TEST_NODE" "$@"
drop="setpriv --ambient-caps=-all --inh-caps=-all --bounding-set=-all --no-new-privs"
exec unshare --user --map-user="$(id -u)" --map-group="$(id -g)" --keep-caps \
  sh -c "echo 0 >/proc/sys/user/max_user_namespaces && exec $drop \"\$OCTANT_TEST_NODE\" \"\$@\"" sh "$@"
