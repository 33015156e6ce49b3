#include "lab/play/programs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

/* The folder of this program; empty when nobody can tell. */
static void own_folder(struct buf *out)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(self, '/');
    buf_put(out, slash ? span_of(self, (size_t)(slash - self)) : (struct span){0});
}

static bool is_there(const char *folder, const char *under, const char *name, int how, struct buf *out)
{
    buf_clear(out);
    buf_printf(out, "%s/%s%s", folder, under, name);
    char *whole = access(buf_cstr(out), how) == 0 ? realpath(buf_cstr(out), NULL) : NULL;
    if (whole) {
        buf_clear(out);
        buf_puts(out, whole);
        (void)buf_cstr(out);
    }
    free(whole);
    return whole != NULL;
}

static bool find(const char *own, const char *name, struct buf *out)
{
    static const char *const folders[] = {"", "../src/cli/", "../src/agent/"};
    const char *asked = getenv(PROGRAMS_VARIABLE);
    if (asked && *asked && is_there(asked, "", name, X_OK, out))
        return true;
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
        if (is_there(own, folders[i], name, X_OK, out))
            return true;
    }
    return false;
}

status programs_find(struct programs *out, struct buf *why)
{
    struct programs p = {0};
    struct buf own = {0}, path = {0};
    const struct {
        const char *name;
        char **path;
    } wanted[] = {{"orb", &p.orb}, {"orb-agent", &p.orb_agent}, {"orb-lab", &p.orb_lab}};
    status st = ST_OK;
    own_folder(&own);
    for (size_t i = 0; st == ST_OK && i < sizeof(wanted) / sizeof(*wanted); i++) {
        if (find(buf_cstr(&own), wanted[i].name, &path)) {
            *wanted[i].path = mem_str(buf_span(&path));
            continue;
        }
        buf_printf(why, "%s is not beside orb-lab (%s): set " PROGRAMS_VARIABLE " to its folder", wanted[i].name,
                   buf_cstr(&own));
        st = ST_NOT_FOUND;
    }
    buf_done(&own);
    buf_done(&path);
    if (st == ST_OK)
        *out = p;
    else
        programs_done(&p);
    return st;
}

void programs_done(struct programs *p)
{
    free(p->orb);
    free(p->orb_agent);
    free(p->orb_lab);
    *p = (struct programs){0};
}

status programs_scenarios(struct buf *out)
{
    static const char *const folders[] = {"scenarios", "../../lab/scenarios", "../share/orb/lab/scenarios"};
    struct buf own = {0};
    bool is_found = false;
    own_folder(&own);
    for (size_t i = 0; !is_found && i < sizeof(folders) / sizeof(*folders); i++)
        is_found = is_there(buf_cstr(&own), "", folders[i], R_OK | X_OK, out);
    if (!is_found)
        is_found = is_there(LAB_SCENARIOS_DIR, "", "", R_OK | X_OK, out);
    buf_done(&own);
    return is_found ? ST_OK : ST_NOT_FOUND;
}

status programs_scenario(const char *name, struct buf *out, struct buf *why)
{
    struct stat s;
    struct buf dir = {0};
    buf_clear(out);
    buf_puts(out, name);
    if (stat(buf_cstr(out), &s) == 0 && !S_ISDIR(s.st_mode))
        return ST_OK;
    status st = strchr(name, '/') ? ST_NOT_FOUND : programs_scenarios(&dir);
    if (st == ST_OK) {
        buf_clear(out);
        buf_printf(out, "%s/%s%s", buf_cstr(&dir), name,
                   span_ends(span_str(name), SPAN(".scenario")) ? "" : ".scenario");
        st = stat(buf_cstr(out), &s) == 0 ? ST_OK : ST_NOT_FOUND;
    }
    if (st != ST_OK)
        buf_printf(why, "no scenario %s%s%s: orb lab list shows those there are", name, dir.n ? " here or in " : "",
                   dir.n ? buf_cstr(&dir) : "");
    buf_done(&dir);
    return st;
}
