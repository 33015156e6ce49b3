# nginx.sh - serves the documentation sites of bench-data with one nginx worker. Sourced by compare.sh and bench/run.
#
#   nginx_start FOLDER SITES [PREFIX-COMMAND...]   sets web (first port), writes FOLDER/hosts and FOLDER/ports
#   nginx_stop
#
# Each site answers as http://PACKAGE.example:$web/ and, for clients without a hosts file, on a port of its own
# (FOLDER/ports: package, port). $web+20 speaks TLS with HTTP/2 for libgtk-4-doc, $web+21 TLS with HTTP/1.1 only; $web+22
# answers on every loopback address with the pages of libgtk-4-doc, for the many-hosts benchmark.

ng_dir=/nonexistent # until nginx_start

nginx_conf() { # FOLDER SITES PORT
    [ "$(id -u)" = 0 ] && echo "user root;"
    cat <<EOF
worker_processes 1;
pid $1/nginx.pid;
error_log $1/nginx.log crit;
events { worker_connections 8192; }
http {
    types { text/html html htm; application/xhtml+xml xhtml; text/plain txt; text/css css; application/javascript js;
            image/png png; image/jpeg jpg jpeg; image/gif gif; image/svg+xml svg; application/pdf pdf; }
    default_type application/octet-stream;
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    keepalive_timeout 60s;
    client_body_temp_path $1/t1; proxy_temp_path $1/t2; fastcgi_temp_path $1/t3; uwsgi_temp_path $1/t4; scgi_temp_path $1/t5;
    server_names_hash_bucket_size 128;
    # nothing here is a redirect to another port
    port_in_redirect on;
EOF
    n=0
    for starts in "$2"/*.starts; do
        site=$(basename "$starts" .starts)
        n=$((n + 1))
        echo "    server { listen 127.0.0.1:$3; listen 127.0.0.1:$(($3 + n)); server_name $site.example; root $2/$site; }"
    done
    gtk=$2/libgtk-4-doc
    cat <<EOF
    ssl_certificate $1/cert.pem;
    ssl_certificate_key $1/key.pem;
    server { listen 127.0.0.1:$(($3 + 20)) ssl http2; root $gtk; }
    server { listen 127.0.0.1:$(($3 + 21)) ssl; root $gtk; }
    server { listen 0.0.0.0:$(($3 + 22)); root $gtk; allow 127.0.0.0/8; deny all; }
}
EOF
}

nginx_start() {
    ng_dir=$1 ng_sites=$(cd "$2" && pwd)
    shift 2
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
        -keyout "$ng_dir/key.pem" -out "$ng_dir/cert.pem" 2>/dev/null || return 1
    web=$((20000 + $$ % 10000))
    for _ in 1 2 3 4 5 6 7 8; do
        nginx_conf "$ng_dir" "$ng_sites" "$web" >"$ng_dir/nginx.conf"
        if "$@" /usr/sbin/nginx -c "$ng_dir/nginx.conf" 2>"$ng_dir/nginx.err"; then
            n=0
            : >"$ng_dir/hosts"
            : >"$ng_dir/ports"
            for starts in "$ng_sites"/*.starts; do
                n=$((n + 1))
                echo "127.0.0.1 $(basename "$starts" .starts).example" >>"$ng_dir/hosts"
                echo "$(basename "$starts" .starts) $((web + n))" >>"$ng_dir/ports"
            done
            return 0
        fi
        web=$((web + 37)) # the ports are taken: try others
    done
    echo "nginx did not start: $(tail -n 1 "$ng_dir/nginx.err")" >&2
    return 1
}

nginx_stop() {
    [ -f "$ng_dir/nginx.pid" ] && kill "$(cat "$ng_dir/nginx.pid")" 2>/dev/null
    for _ in $(seq 50); do
        [ -f "$ng_dir/nginx.pid" ] || break
        sleep 0.05
    done
}

# Start URLs of a site below a base URL.
nginx_starts() { # PACKAGE BASE
    sed "s,^,$2/," "$ng_sites/$1.starts"
}
