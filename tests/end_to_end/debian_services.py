"""More of Debian's programs for debian_check.py, each a shell script: servers and clients, programs that start others.

Packages: mariadb-server, apache2, apache2-utils, haproxy, varnish, bind9, bind9-dnsutils, mosquitto, mosquitto-clients,
openssh-server, openmpi-bin, libopenmpi-dev, r-base-core, imagemagick, tmux, rsync, parallel, libtbb-dev.
"""

MARIADB = """
mysql_install_db --no-defaults --user=root --datadir=$PWD/d --auth-root-authentication-method=normal >/dev/null 2>&1
/usr/sbin/mariadbd --no-defaults --user=root --datadir=$PWD/d --socket=$PWD/s --skip-networking >log 2>&1 &
client="--no-defaults -uroot -S $PWD/s"
for i in $(seq 40); do sleep 0.5; mysqladmin $client ping >/dev/null 2>&1 && break; done
mysqlslap $client --auto-generate-sql --concurrency=4 --number-of-queries=2000 --auto-generate-sql-load-type=mixed
mysqladmin $client shutdown && wait && grep -q 'Shutdown complete' log
"""

APACHE = """
cat >c <<END
ServerRoot $PWD
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
Listen 127.0.0.1:8603
ServerName x
PidFile $PWD/pid
ErrorLog $PWD/err
DocumentRoot $PWD
END
/usr/sbin/apache2 -f $PWD/c -k start && sleep 0.5
ab -q -n 3000 -c 8 http://127.0.0.1:8603/page.html | grep -E 'Complete|Failed'
/usr/sbin/apache2 -f $PWD/c -k stop && sleep 0.5
"""

HAPROXY = """
cat >c <<END
global
  nbthread 3
defaults
  mode http
  timeout client 5s
  timeout server 5s
  timeout connect 5s
frontend f
  bind 127.0.0.1:8601
  default_backend b
backend b
  server s1 127.0.0.1:8602
END
python3 -m http.server -b 127.0.0.1 8602 >/dev/null 2>&1 & behind=$!
/usr/sbin/haproxy -f c -D -p pid; sleep 1
ab -q -n 500 -c 4 http://127.0.0.1:8601/page.html | grep -E 'Complete|Failed'
kill -USR1 $(cat pid); kill $behind; wait; true
"""

VARNISH = """
mkdir v; python3 -m http.server -b 127.0.0.1 8604 >/dev/null 2>&1 & behind=$!
/usr/sbin/varnishd -F -n $PWD/v -a 127.0.0.1:8605 -b 127.0.0.1:8604 -s malloc,20m >log 2>&1 & cache=$!
sleep 5; ab -q -n 3000 -c 8 http://127.0.0.1:8605/page.html | grep -E 'Complete|Failed'
kill $cache $behind; wait; true
"""

BIND = """
mkdir b; printf '$TTL 60\\n@ SOA a b 1 1 1 1 1\\n@ NS a\\na A 1.2.3.4\\n' >b/z
cat >c <<END
options { directory "$PWD/b"; listen-on port 5399 { 127.0.0.1; }; listen-on-v6 { none; }; recursion no; pid-file none;
  session-keyfile "$PWD/k"; };
controls {};
zone "t" { type master; file "z"; };
END
/usr/sbin/named -g -c c -n 2 >log 2>&1 & server=$!
sleep 1.5; for i in 1 2 3 4 5; do dig +short @127.0.0.1 -p 5399 a.t; done
kill $server; wait; grep -c exiting log
"""

MOSQUITTO = """
/usr/sbin/mosquitto -p 1899 >log 2>&1 & server=$!
sleep 0.4; mosquitto_sub -p 1899 -t x -C 5 & listener=$!
sleep 0.3; for i in 1 2 3 4 5; do mosquitto_pub -p 1899 -t x -m message$i; done
wait $listener; kill $server; wait; true
"""

SSHD = """
mkdir -p /run/sshd; ssh-keygen -q -t ed25519 -N '' -f host; ssh-keygen -q -t ed25519 -N '' -f user; cp user.pub keys
/usr/sbin/sshd -D -p 2298 -h $PWD/host -o AuthorizedKeysFile=$PWD/keys -o StrictModes=no -o PidFile=none -E log & server=$!
into="ssh -i user -p 2298 -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
sleep 0.5; $into 127.0.0.1 'id -u; seq 1 100000 | md5sum'
$into -tt 127.0.0.1 'tty | cut -c1-8; exit 3'; echo $?
kill $server; wait; true
"""

OPENMPI = """
cat >m.c <<END
#include <mpi.h>
#include <stdio.h>
int main(int c, char** v) {
  int rank; long sum = 0;
  MPI_Init(&c, &v); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (long i = 0, mine = rank; i < 200; i++, mine = sum % 1000 + rank)
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  printf("%d %ld\\n", rank, sum); MPI_Finalize();
}
END
mpicc m.c -o m && mpirun --allow-run-as-root --oversubscribe --mca btl_vader_single_copy_mechanism none -n 3 ./m
"""

TBB = """
cat >t.cc <<END
#include <tbb/tbb.h>
#include <cstdio>
int main() {
  std::vector<unsigned> v(300000);
  for (unsigned i = 0; i < v.size(); i++) v[i] = i * 7919u % 300007u;
  tbb::parallel_sort(v.begin(), v.end());
  std::atomic<long> sum{0};
  tbb::parallel_for(0, 100000, [&](int i) { sum += v[i]; });
  std::printf("%u %ld\\n", v[5], sum.load());
}
END
g++ -std=c++17 -O1 t.cc -o t -ltbb && ./t
"""

R = """R --vanilla -q -e 'library(parallel); mclapply(1:4, function(i) sum(rnorm(1e5)), mc.cores=2); Sys.time(); system("date")'"""

IMAGES = "convert -size 600x400 plasma:red-blue -blur 0x5 a.png && convert a.png -resize 50% b.jpg && md5sum a.png b.jpg"

TMUX = """
export TMUX_TMPDIR=$PWD; tmux -L t -f /dev/null new-session -d -x 80 -y 24 'echo hello; sleep 5'
sleep 0.5; tmux -L t capture-pane -p | head -3; tmux -L t kill-server
"""

RSYNC = "rsync -avz repository/ b/ && rsync -a --checksum repository/ b/ && diff -r repository b"

PARALLEL = "parallel --will-cite -j3 'echo {} $$; sleep 0.0{}' ::: 1 2 3 4 5 6"

SERVICES = {
    name: ["sh", "-c", script]
    for name, script in {
        "mariadb": MARIADB, "apache": APACHE, "haproxy": HAPROXY, "varnish": VARNISH, "bind": BIND,
        "mosquitto": MOSQUITTO, "sshd": SSHD, "openmpi": OPENMPI, "tbb": TBB, "r": R, "images": IMAGES, "tmux": TMUX,
        "rsync": RSYNC, "parallel": PARALLEL,
    }.items()
}
