#!/bin/bash
# Runs in the folder of the task; Harbor reads the reward.
set -u
(node -e 'const c=require("./tsconfig.json").compilerOptions; if(c.strict!==true||c.target!=="es2022") process.exit(1)')
code=$?
if [ -d /logs/verifier ]; then [ $code -eq 0 ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt; fi
exit $code
