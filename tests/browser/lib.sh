# lib.sh - what the browser tests share: a server with pages to find, and a Chromium driven through chromedriver. Sourced,
# never run.
#
# Prints "ok NAME" / "not ok NAME reason". Everything a script starts is stopped by its process id when it ends, and every
# wait has an end.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$top/build}
case $build in /*) ;; *) build=$top/$build ;; esac
orb=${ORB:-$build/src/cli/orb}
orb_sample=${ORB_SAMPLE:-$build/src/sample/orb-sample}
make_index=${MAKE_INDEX:-$build/tests/browser/make-index}
for program in "$orb" "$orb_sample" "$make_index"; do
    if [ ! -x "$program" ]; then
        echo "$0: $program is missing: run make first" >&2
        exit 4
    fi
done
for program in chromium chromedriver jq curl; do
    if ! command -v $program >/dev/null; then
        echo "$0: $program is missing: run make deps-dev" >&2
        exit 4
    fi
done

# Settings of the person who runs the tests must not reach them.
for name in $(env | sed -n 's/^\(ORB_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
export ORB_CONFIG=/dev/null
unset http_proxy https_proxy all_proxy
tmp=$(mktemp -d "${TMPDIR:-/tmp}/orb-browser.XXXXXX")
export HOME="$tmp"
pids="" driver_pid="" session=""
failed=0

cleanup() {
    [ -n "$session" ] && wd DELETE "" >/dev/null 2>&1
    # The driver leads a group of its own, in which the browser is too.
    [ -n "$driver_pid" ] && kill -- "-$driver_pid" 2>/dev/null
    for p in $pids; do kill "$p" 2>/dev/null; done
    for p in $pids; do wait "$p" 2>/dev/null; done
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        rm -rf "$tmp" 2>/dev/null && break
        sleep 0.2
    done
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP PIPE

ok() { echo "ok $1"; }
not_ok() { # NAME REASON
    echo "not ok $1 $2"
    failed=1
}
is() { # NAME GOT WANT
    if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "got \"$2\", want \"$3\""; fi
}

wait_for_line() { # FILE TEXT
    for _ in $(seq 300); do
        grep -q "$2" "$1" 2>/dev/null && return 0
        sleep 0.05
    done
    echo "$0: $1: no \"$2\" came: $(tail -n 3 "$1")" >&2
    exit 4
}

# ---- the server ----

# Serves folder DATA on a free port; sets base ("http://127.0.0.1:PORT").
serve() { # DATA OPTION...
    data=$1
    shift
    "$orb" serve --data "$data" --listen 127.0.0.1:0 --query-rate 0 "$@" >"$tmp/serve.out" 2>"$tmp/serve.err" &
    pids="$pids $!"
    wait_for_line "$tmp/serve.out" '^http://'
    base=$(sed -n '1s,/$,,p' "$tmp/serve.out")
}

page() { printf "%s\t%s\t%s\t%s\t%s\t%s\n" "$@"; } # URL LANGUAGE DAYS GROUP TITLE TEXT
# Lines for make-index: 25 pages about spiders, some others, and those that mean harm.
write_pages() { # FILE
    {
        for i in $(seq 1 25); do
            page "https://garden.example/spiders/$i.html" "en" "$i" "0" "Spider number $i" "A spider weaves web number $i in the garden every evening, first the frame, then the spiral.\\nIt waits in the middle."
        done
        page "https://natur.example/spinnen/netze" "de" "3" "0" "Spinnen und ihre Netze" "Die Spinne, englisch spider, baut ihr Netz im Garten jeden Abend neu."
        page "https://nature.example/araignees" "fr" "4" "0" "Les araignées du jardin" "L'araignée, spider en anglais, tisse sa toile chaque soir dans le jardin."
        page "https://news.example/weather" "en" "1" "7" "Weather for the weekend" "Sunshine is expected, with a gentle breeze from the west."
        page "https://mirror.example/weather" "en" "2" "7" "Weather for the weekend" "Sunshine is expected, with a gentle breeze from the west!"
        page "https://evil.example/%3Cscript%3Ealert(1)%3C/script%3E?\"><img src=x onerror=alert(9)>" "en" "5" "0" "<script>alert('harmful')</script><img src=x onerror=\"alert(2)\"> harmful" "A harmful page: <svg onload=alert(3)> </p></li></ol><iframe src=javascript:alert(4)></iframe> \"'><b id=planted>bold</b>"
        printf '%s\t' "https://shop.example/kettle" "en" "8" "0" "Copper kettle" "A kettle of copper, polished." "price=9.99" "author=Jörg Doe" \
            "note=\"><img src=x onerror=alert(10)><b id=planted>x</b>" "link=javascript:alert(11)" "<i>=4" "a=1" "b=2" "c=3"
        printf 'd=<script>alert(12)</script>\n'
        page "https://shop.example/pan" "en" "9" "0" "Copper pan" "pan copper copper	=words	price=9.99"
        page "https://long.example/$(printf 'averylongsegmentwithoutanybreak%.0s' 1 2 3 4 5 6)" "en" "6" "0" "Unbreakable$(printf 'Wordwithoutend%.0s' 1 2 3 4 5 6 7 8)" "unbreakable $(printf 'abcdefghij%.0s' $(seq 40))"
    } >"$1"
}
make_pages() { # DATA
    write_pages "$tmp/pages"
    "$make_index" "$1" <"$tmp/pages" || exit 4
}

# ---- the browser ----

# METHOD PATH [JSON]: prints the value of the answer. Path is below the session.
wd() {
    if [ $# -gt 2 ]; then
        curl -s --max-time 30 -X "$1" -H 'Content-Type: application/json' -d "$3" "http://127.0.0.1:$driver_port/session$session$2"
    else
        curl -s --max-time 30 -X "$1" "http://127.0.0.1:$driver_port/session$session$2"
    fi | jq -c .value
}

start_browser() {
    setsid chromedriver --port=0 --log-level=WARNING >"$tmp/driver.out" 2>&1 &
    driver_pid=$!
    wait_for_line "$tmp/driver.out" 'started successfully on port'
    driver_port=$(sed -n 's/.*started successfully on port \([0-9]*\).*/\1/p' "$tmp/driver.out")
    sandbox='"--no-first-run"'
    [ "$(id -u)" = 0 ] && sandbox='"--no-sandbox"' # Chromium refuses to start as root with it
    session=""
    answer=$(wd POST "" '{"capabilities":{"alwaysMatch":{"browserName":"chrome","goog:loggingPrefs":{"browser":"ALL"},
        "timeouts":{"pageLoad":20000,"script":10000},
        "goog:chromeOptions":{"binary":"'"$(command -v chromium)"'","args":["--headless=new",'"$sandbox"',"--disable-gpu","--no-first-run",
        "--disable-dev-shm-usage","--disable-background-networking","--disable-component-update","--disable-sync","--disable-extensions",
        "--user-data-dir='"$tmp"'/profile","--window-size=1200,900","--lang=en"]}}}}')
    session=/$(printf '%s' "$answer" | jq -r '.sessionId // empty')
    if [ "$session" = / ]; then
        session=""
        echo "$0: the browser does not start: $(printf '%s' "$answer" | head -c 300)" >&2
        exit 4
    fi
}

go() { wd POST /url "$(jq -n --arg u "$1" '{url: $u}')" >/dev/null; } # URL
# The value of a JavaScript expression in the page, as JSON.
js() { wd POST /execute/sync "$(jq -n --arg s "return ($1)" '{script: $s, args: []}')"; }
text() { js "$1" | jq -r .; } # the same as plain text
cdp() { wd POST /goog/cdp/execute "$(jq -n --arg c "$1" --argjson p "$2" '{cmd: $c, params: $p}')"; } # COMMAND PARAMS
keys() { # TEXT: into whatever has the focus; \uE007 is Enter, \uE004 Tab
    wd POST /actions "$(printf '"%s"' "$1" | jq '{actions: [{type: "key", id: "k", actions: (. / "" | map({type: "keyDown", value: .}, {type: "keyUp", value: .}))}]}')" >/dev/null
}
ENTER='\uE007' TAB='\uE004' ESCAPE='\uE00C'

until_js() { # EXPRESSION: waits up to 30 s for it to be true
    for _ in $(seq 300); do
        [ "$(js "$1")" = true ] && return 0
        sleep 0.1
    done
    return 1
}
true_in_page() { # NAME EXPRESSION: true, at once or soon
    if until_js "$2"; then ok "$1"; else not_ok "$1" "not so in $(text location.href): $2"; fi
}
# NAME: nothing that the console counts as an error since the last call, but for pages meant to be missing (/nowhere); a
# broken policy shows here.
console_is_quiet() {
    errors=$(wd POST /se/log '{"type":"browser"}' | jq -c '[.[]? | select(.level == "SEVERE") | .message | select(contains("/nowhere") | not)]')
    is "$1" "$errors" '[]'
}

# Contrast of an element's text with what is behind it (WCAG 2), for several selectors: the lowest.
contrast='(function () {
  const rgb = c => { const m = c.match(/[\d.]+/g).map(Number); return m.length > 3 && m[3] < 1 ? null : m; };
  const light = c => { const v = c.slice(0, 3).map(x => x / 255).map(x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4); return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
  const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c) return c; } return [255, 255, 255]; };
  let low = 99;
  for (const e of document.querySelectorAll("main *, footer *, header *, input")) {
    if (!e.checkVisibility() || ![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || e.closest(".vh")) continue;
    const a = light(rgb(getComputedStyle(e).color)), b = light(behind(e));
    low = Math.min(low, (Math.max(a, b) + .05) / (Math.min(a, b) + .05));
  }
  return low >= 4.5;
})()'
