#include <getopt.h>
#include <math.h>
#include <stdio.h>

#include "codec/json.h"
#include "lab/command.h"
#include "lab/play/audit.h"

#define GAP_DEFAULT_MS 1000.0

static void put_gaps(struct json *j, const char *name, const struct audit_gaps *g)
{
    json_key(j, name);
    json_open(j, '{');
    json_key(j, "pairs");
    json_u64(j, g->pairs);
    json_key(j, "close");
    json_u64(j, g->close);
    json_key(j, "least_ms");
    json_real(j, g->least_ms, 3);
    json_close(j, '}');
}

static void put_clients(struct json *j, const struct audit *a)
{
    char text[ADDR_TEXT_MAX];
    json_key(j, "clients");
    json_open(j, '[');
    for (size_t i = 0; i < a->client_count; i++) {
        json_open(j, '{');
        json_key(j, "address");
        json_str(j, addr_format(&a->clients[i].addr, text));
        json_key(j, "requests");
        json_u64(j, a->clients[i].requests);
        json_key(j, "pages");
        json_u64(j, a->clients[i].pages);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static const struct figure {
    const char *name, *text;
    size_t at;
} figures[] = {
    {"requests", "requests", offsetof(struct audit, requests)},
    {"pages", "different pages", offsetof(struct audit, pages)},
    {"again", "pages sent again", offsetof(struct audit, again)},
    {"unchanged", "not changed (304)", offsetof(struct audit, unchanged)},
    {"robots", "of robots.txt", offsetof(struct audit, robots)},
    {"forbidden", "forbidden by robots.txt", offsetof(struct audit, forbidden)},
    {"limited", "over a limit (429)", offsetof(struct audit, limited)},
    {"errors", "server errors (5xx)", offsetof(struct audit, errors)},
    {"bytes", "bytes of bodies", offsetof(struct audit, bytes)},
};
#define FIGURES (sizeof(figures) / sizeof(*figures))

static uint64_t value(const struct audit *a, const struct figure *f)
{
    uint64_t v;
    memcpy(&v, (const char *)a + f->at, sizeof(v));
    return v;
}

static void print_json(const struct audit *a)
{
    struct buf out = {0};
    struct json j = {.out = &out};
    json_open(&j, '{');
    for (size_t i = 0; i < FIGURES; i++) {
        json_key(&j, figures[i].name);
        json_u64(&j, value(a, &figures[i]));
    }
    json_key(&j, "pause_ms");
    json_real(&j, a->pause_ms, 3);
    put_gaps(&j, "host", &a->host);
    put_gaps(&j, "handed", &a->handed);
    put_gaps(&j, "server", &a->server);
    json_key(&j, "first");
    json_real(&j, a->first, 6);
    json_key(&j, "last");
    json_real(&j, a->last, 6);
    put_clients(&j, a);
    json_close(&j, '}');
    puts(buf_cstr(&out));
    buf_done(&out);
}

static void print_gaps(const char *name, const struct audit *a, const struct audit_gaps *g)
{
    printf("%-24s %llu of %llu under %g ms", name, (unsigned long long)g->close, (unsigned long long)g->pairs,
           a->pause_ms);
    if (g->pairs)
        printf(", the shortest %.3f ms", g->least_ms);
    putchar('\n');
}

static void print_text(const struct audit *a)
{
    for (size_t i = 0; i < FIGURES; i++)
        printf("%-24s %llu\n", figures[i].text, (unsigned long long)value(a, &figures[i]));
    printf("%-24s %.3f\n", "seconds", a->last - a->first);
    print_gaps("gaps of a host", a, &a->host);
    print_gaps("... between two clients", a, &a->handed);
    print_gaps("gaps of an address", a, &a->server);
    for (size_t i = 0; i < a->client_count; i++) {
        char text[ADDR_TEXT_MAX];
        printf("%-24s %llu requests, first with %llu pages\n", addr_format(&a->clients[i].addr, text),
               (unsigned long long)a->clients[i].requests, (unsigned long long)a->clients[i].pages);
    }
}

int command_audit(int argc, char **argv)
{
    static const struct option options[] = {
        {"gap", required_argument, NULL, 'g'}, {"json", no_argument, NULL, 'j'}, {NULL, 0, NULL, 0}};
    double gap_ms = GAP_DEFAULT_MS;
    bool is_good = true, is_json = false;
    for (int c; is_good && (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'g')
            is_good = lab_number(span_str(optarg), 1e9, &gap_ms);
        else if (c == 'j')
            is_json = true;
        else
            is_good = false;
    }
    if (!is_good || optind != argc - 1)
        return command_fail(EXIT_USAGE, "audit [--gap MS] [--json] LEDGER");
    struct audit a;
    struct buf why = {0};
    audit_init(&a, gap_ms);
    status st = audit_file(&a, argv[optind], &why);
    int code = st == ST_OK ? EXIT_DONE : command_fail(st == ST_IO ? EXIT_IO : EXIT_INPUT, "audit: %s", buf_cstr(&why));
    if (st == ST_OK)
        (is_json ? print_json : print_text)(&a);
    audit_done(&a);
    buf_done(&why);
    return code;
}
