#!/bin/bash
# Runs in the folder of the task; Harbor reads the reward.
set -u
(test "$(node -e 'import("./page.js").then(({path})=>console.log(path("A b")))')" = /a-b && test -f slug.js)
code=$?
if [ -d /logs/verifier ]; then [ $code -eq 0 ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt; fi
exit $code
