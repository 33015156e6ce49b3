# admin_lib.sh - what the browser tests of the administration share, besides lib.sh: a coordinator, and its pages. Sourced after it.

# Starts a coordinator on free ports; sets base (of the administration) and link (to set the first password).
coordinate() { # DATA OPTION...
    data=$1
    shift
    "$orb" coordinator --data "$data" --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --plain "$@" >"$tmp/coord.out" 2>"$tmp/coord.err" &
    pids="$pids $!"
    wait_for_line "$tmp/coord.out" 'administration'
    base=$(jq -r .url "$data/coord/admin.token")
    link=$(cat "$data/coord/admin-link" 2>/dev/null) # there while nobody has a password
}
token() { jq -r .token "$data/coord/admin.token"; }
# METHOD PATH [FORM]: a call of the API with the token.
api() {
    if [ $# -gt 2 ]; then
        curl -s --max-time 10 -X "$1" -H "Authorization: Bearer $(token)" --data "$3" "$base$2"
    else
        curl -s --max-time 10 -X "$1" -H "Authorization: Bearer $(token)" "$base$2"
    fi
}
type_into() { # ID TEXT
    js "(document.getElementById('$1').focus(), document.getElementById('$1').value = '', true)" >/dev/null
    wd POST "/element/$(wd POST /element "$(jq -n --arg s "#$1" '{using: "css selector", value: $s}')" | jq -r '.[]')/value" "$(jq -n --arg t "$2" '{text: $t}')" >/dev/null
}
press() { js "(document.querySelector('$1').click(), true)" >/dev/null; } # SELECTOR
log_in() { # NAME PASSWORD
    go "$base/login"
    type_into f-name "$1"
    type_into f-password "$2"
    press 'main form button'
}
log_out() { press 'form[action="/logout"] button'; until_js 'location.pathname === "/login"'; }
# The link that sets the first password, used at once: admin, "correct horse".
first_password() {
    go "$link"
    type_into f-password 'correct horse'
    type_into f-again 'correct horse'
    press 'main form button'
    until_js 'location.pathname === "/"'
}
