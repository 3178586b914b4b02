#!/bin/bash
# Runs in the folder of the task; Harbor reads the reward.
set -u
(python3 -m unittest -q)
code=$?
if [ -d /logs/verifier ]; then [ $code -eq 0 ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt; fi
exit $code
