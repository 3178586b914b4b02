#!/bin/sh
set -eu
base64 -d > 'tail.py' <<'END'
ZGVmIGxhc3QoaXRlbXMsIG4pOgogICAgcmV0dXJuIGl0ZW1zW2xlbihpdGVtcykgLSBuOl0K
END
