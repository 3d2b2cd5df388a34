#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tare run on programs as Debian has them: same output, same exit status, and
# stacks that go back to where their thread began. With --alloc, too, where
# that library was built.
. "$(dirname "$0")/expect.sh"
needs_names

PATH=$PATH:/usr/sbin
modes=("")
[ -e "$(dirname "$TARE")/../preload/libtare-alloc.so" ] && modes+=("--alloc")
mkdir -p servers

# Samples and whole stacks of a report, of all the processes in it.
cat >whole.py <<'END'
import re, sys
samples = whole = 0
for line in open(sys.argv[1]):
    found = re.search(r" ([\d,]+) samples? of .* ([\d.]+) % of stacks", line)
    if found:
        n = int(found[1].replace(",", ""))
        samples += n
        whole += n * float(found[2]) / 100
print("yes" if samples < 20 or whole >= 0.9 * samples else "no",
      samples, whole)
END
expect_whole() {
	local got
	got=$("$PYTHON" whole.py report)
	expect_has "$got" yes "$1: at least 90 % of the stacks are whole"
}

# Runs a command alone and under tare run; compares what comes out.
same() {
	local name=$1 mode
	shift
	[ -z "${before:-}" ] || eval "$before"
	"$@" >alone.out 2>alone.err </dev/null
	local status=$?
	for mode in "${modes[@]}"; do
		[ -z "${before:-}" ] || eval "$before"
		"$TARE" run $mode -o report -- "$@" >with.out 2>with.err \
			</dev/null
		expect_is "$?" "$status" "$name $mode: the exit status"
		cmp -s alone.out with.out
		verdict $? "$name $mode: the output" \
			"$(diff alone.out with.out | head -5)"
		expect_is "$(grep -v '^tare: ' with.err)" "$(cat alone.err)" \
			"$name $mode: the other output"
		expect_whole "$name $mode"
	done
}

missing() {
	command -v "$1" >/dev/null && return 1
	expect_skip "no $1"
}

# ---- git --------------------------------------------------------------------

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
export GIT_AUTHOR_DATE="1700000000 +0000" GIT_COMMITTER_DATE="1700000000 +0000"
if ! missing git; then
	git -c init.defaultBranch=main init -q origin
	"$PYTHON" - <<'END'
import random
random.seed(1)
words = [format(random.getrandbits(40), "x") for _ in range(2000)]
for n in range(30):
    with open("origin/file%d" % (n % 10), "w") as f:
        for _ in range(4000):
            f.write(" ".join(random.choices(words, k=6)) + "\n")
    import subprocess
    subprocess.run(["git", "-C", "origin", "add", "-A"], check=True)
    subprocess.run(["git", "-C", "origin", "commit", "-q", "-m", "c%d" % n],
                   check=True)
END
	before='rm -rf copy' same "git clone" \
		git clone -q --no-local origin copy
	same "git log" git -C origin log --stat -p
	same "git fails" git -C origin show no-such-thing
	before='rm -rf packed && cp -r origin packed' same "git gc" \
		git -C packed gc -q --aggressive
	expect_is "$(git -C packed fsck 2>&1)" "" "git gc left it in order"
fi

# ---- sqlite3 ----------------------------------------------------------------

if ! missing sqlite3; then
	cat >work.sql <<'END'
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 60000)
insert into t select i, hex(i * 7919 % 100003) || printf('%06d', i), i * 1.5
from n;
create index x on t(b);
select count(*), sum(c) from t where b like '3%';
select substr(b, 1, 2), count(*), avg(c) from t group by 1 order by 2, 1;
select count(*) from t one join t two on one.b = two.b where one.a % 3 = 0;
update t set c = c * 2 where a % 2;
delete from t where a % 5 = 0;
vacuum;
select sum(c), min(b), max(b) from t;
select * from no_such_table;
END
	before='rm -f work.db' same sqlite3 sqlite3 work.db ".read work.sql"
fi

# ---- python3 ----------------------------------------------------------------

cat >work.py <<'END'
import concurrent.futures, hashlib, json, os, re, subprocess, sys, time

def part(n):
    x = 0
    for i in range(60000):
        x = (x * 31 + i * n) % 1000003
    return x

with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print(list(pool.map(part, range(8))))
text = json.dumps([{"n": i, "t": "x" * (i % 50)} for i in range(20000)])
print(len(text), len(json.loads(text)), len(re.findall(r"x+", text)))
print(hashlib.sha256(text.encode() * 20).hexdigest())
print(subprocess.run(["echo", "from a child"], capture_output=True,
                     text=True).stdout.strip())
read, write = os.pipe()
pid = os.fork()
if pid == 0:
    os.write(write, str(part(3)).encode())
    os._exit(5)
print(os.waitpid(pid, 0)[1] >> 8, os.read(read, 100).decode())
time.sleep(0.05)
sys.exit(3)
END
same python3 "$PYTHON" work.py

# ---- gcc --------------------------------------------------------------------

cp "$root/src/read/view/gather.c" "$root/src/base/text/json.c" . 2>/dev/null
before='rm -f a.o' same gcc "$CC" -std=c11 -D_GNU_SOURCE -O2 \
	-I"$root/src" -I"$root/include" -c gather.c -o a.o
"$CC" -std=c11 -D_GNU_SOURCE -O2 -I"$root/src" -I"$root/include" \
	-c gather.c -o b.o
cmp a.o b.o
verdict $? "gcc: the same object file"
expect_has "$(cat report)" "cc1" "gcc: the report is about cc1"
echo 'int main(void) { return x; }' >bad.c
same "gcc of a wrong file" "$CC" -c bad.c -o bad.o

# ---- against perf -----------------------------------------------------------

# The ten functions with the most own time: perf's shares, within 3 points. A
# second of samples is too few for that, so runs are added up until they are; in
# the end chance is allowed for. Load moves shares, too.
against_perf() {
	local name=$1 result pairs=()
	shift
	for turn in 1 2 3 4 5 6; do
		rm -f "cpu$turn.pb.gz"
		perf record -q -g -e cpu-clock -F 999 -o "perf$turn.data" -- \
			"$@" >/dev/null 2>&1 </dev/null
		"$TARE" run --no-report --rate 999 -- "$@" >/dev/null 2>&1 \
			</dev/null
		"$TARE" export -o "cpu$turn.pb.gz" >/dev/null 2>&1
		pairs+=("cpu$turn.pb.gz" "perf$turn.data")
		result=$("$PYTHON" "$here/against_perf.py" "${pairs[@]}")
		[[ $result == *": within" ]] && break
	done
	expect_has_not "$result" ": apart" "$name: perf's shares"
	echo "# $name: $(tail -1 <<<"$result")"
}

if perf record -q -g -e cpu-clock -F 999 -o perf.data true >/dev/null 2>&1; then
	"$PYTHON" - <<'END'
import random
random.seed(1)
words = [format(random.getrandbits(36), "x") for _ in range(4000)]
with open("text", "w") as f:
    for _ in range(200000):
        f.write(" ".join(random.choices(words, k=6)) + "\n")
END
	missing zstd || against_perf zstd zstd -q -12 -c text
	missing xz || against_perf xz xz -2 -c text
	missing bzip2 || against_perf bzip2 bzip2 -c text
	missing gzip || against_perf gzip gzip -9 -c text
	missing sqlite3 || against_perf sqlite3 sqlite3 :memory: "
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 500000)
insert into t select i, hex(i * 7919 % 100003) from n;
create index x on t(b);
select substr(b, 1, 2), count(*) from t group by 1;"
	missing jq || against_perf jq jq -n \
		'[range(300000) | {a: ., b: tostring}] | group_by(.a % 7) |
		length'
	missing bc || against_perf bc sh -c \
		"echo 'scale=1500; a(1) * 4' | exec bc -l"
	missing perl || against_perf perl perl -e \
		'for (1..4000000) { $h{$_ % 5003} .= "x"; $s += $_ % 77 }
		print $s'
	missing openssl || against_perf openssl openssl dgst -sha512 \
		text text text text text text text text text text text text
	against_perf sort env LC_ALL=C sort text text text text text text
	against_perf cc1 "$("$CC" -print-prog-name=cc1)" -quiet -O2 \
		-std=gnu11 -I"$root/src" -I"$root/include" json.c -o /dev/null
else
	expect_skip "no perf, or not allowed"
fi

# ---- servers ----------------------------------------------------------------

free_port() {
	"$PYTHON" -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

redis_work() {
	local port=$1
	wait_until redis-cli -p "$port" ping >/dev/null 2>&1
	redis-benchmark -p "$port" -q -n 20000 -c 10 -P 4 \
		-t set,get,incr,lpush,lrange_100 >benchmark 2>&1
	redis-cli -p "$port" <<-'END'
		dbsize
		get counter:__rand_int__
		llen mylist
		eval "local n = 0 for i = 1, 2e6 do n = n + i end return n" 0
		nonsense
		bgsave
		debug sleep 0.3
	END
	redis-cli -p "$port" shutdown nosave
	rm -f servers/dump.rdb
}

if ! missing redis-server && ! missing redis-benchmark; then
	port=$(free_port)
	redis=(redis-server --port "$port" --save "" --dir "$work/servers"
		--bind 127.0.0.1 --daemonize no)
	"${redis[@]}" >alone.log 2>&1 &
	redis_work "$port" >alone.out 2>&1
	wait $!
	status=$?
	for mode in "${modes[@]}"; do
		"$TARE" run $mode -o report -- "${redis[@]}" >with.log 2>&1 &
		redis_work "$port" >with.out 2>&1
		wait $!
		expect_is "$?" "$status" "redis-server $mode: exit status"
		expect_is "$(cat with.out)" "$(cat alone.out)" \
			"redis-server $mode: its answers"
		expect_whole "redis-server $mode"
		expect_has "$(cat report)" "samples of" "redis-server: sampled"
	done
fi

nginx_work() {
	local port=$1
	wait_until curl -sf "http://127.0.0.1:$port/a.txt" >/dev/null
	wrk -t1 -c8 -d2 -H 'Accept-Encoding: gzip' \
		"http://127.0.0.1:$port/a.txt" >benchmark 2>&1
	curl -s "http://127.0.0.1:$port/a.txt" | cksum
	curl -s --compressed "http://127.0.0.1:$port/a.txt" | cksum
	curl -s -o /dev/null -w '%{http_code}\n' "http://127.0.0.1:$port/none"
	kill -QUIT "$(cat "$work/servers/nginx.pid")"
}

if ! missing nginx && ! missing wrk && ! missing curl; then
	port=$(free_port)
	mkdir -p servers/html
	"$PYTHON" -c 'import random
random.seed(1)
print("".join(random.choices("abcdef \n", k=60000)))' >servers/html/a.txt
	cat >servers/nginx.conf <<END
daemon off;
worker_processes 2;
pid $work/servers/nginx.pid;
error_log $work/servers/error.log;
events { worker_connections 256; }
http {
	access_log off;
	client_body_temp_path $work/servers/body;
	proxy_temp_path $work/servers/proxy;
	fastcgi_temp_path $work/servers/fastcgi;
	uwsgi_temp_path $work/servers/uwsgi;
	scgi_temp_path $work/servers/scgi;
	gzip on;
	gzip_types text/plain;
	types { text/plain txt; }
	server { listen 127.0.0.1:$port; root $work/servers/html; }
}
END
	# Its workers are another user, if it is started by root.
	chmod 755 "$work" servers servers/html
	nginx=(nginx -e "$work/servers/error.log" -c "$work/servers/nginx.conf")
	"${nginx[@]}" >alone.log 2>&1 &
	nginx_work "$port" >alone.out 2>&1
	wait $!
	status=$?
	for mode in "${modes[@]}"; do
		"$TARE" run $mode -o report -- "${nginx[@]}" >with.log 2>&1 &
		nginx_work "$port" >with.out 2>&1
		wait $!
		expect_is "$?" "$status" "nginx $mode: exit status"
		expect_is "$(cat with.out)" "$(cat alone.out)" \
			"nginx $mode: its answers"
		expect_is "$(grep -c '^tare: ' servers/error.log)" 0 \
			"nginx $mode: nothing of ours in its log"
		expect_whole "nginx $mode"
		expect_has "$(cat report)" "samples of" "nginx $mode: sampled"
	done
fi

finish
