git init -q -b main && git config user.name T && git config user.email t@example.org && git add . && git commit -qm "first"
