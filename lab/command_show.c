#include <stdio.h>
#include <string.h>

#include "lab/command.h"

/* What scripts want to know of a lab, a line each, columns apart by tabs. */

static void show_places(const struct lab *l)
{
    for (unsigned i = 0; i < map_place_count(l->map); i++) {
        const struct map_place *p = map_place(l->map, i);
        char four[ADDR_TEXT_MAX], six[ADDR_TEXT_MAX];
        printf("%.*s\t%.*s\t%s\t%s\n", SPAN_ARG(p->name), SPAN_ARG(map_node(l->map, p->node)->name),
               p->addr4.family ? addr_format(&p->addr4, four) : "-",
               p->addr6.family ? addr_format(&p->addr6, six) : "-");
    }
}

static void show_sites(const struct lab *l)
{
    for (size_t i = 0; i < l->site_count; i++) {
        const struct lab_site *s = &l->sites[i];
        char four[ADDR_TEXT_MAX], six[ADDR_TEXT_MAX];
        printf("%.*s\t%s\t%s\t%u\t%u\n", SPAN_ARG(s->host), s->addr4.family ? addr_format(&s->addr4, four) : "-",
               s->addr6.family ? addr_format(&s->addr6, six) : "-", s->pages, s->bytes_per_page);
    }
}

static void show_seeds(const struct lab *l)
{
    for (size_t i = 0; i < l->site_count; i++)
        printf("http://%.*s/\n", SPAN_ARG(l->sites[i].host));
}

static void show_hosts(const struct lab *l)
{
    for (size_t i = 0; i < l->name_count; i++) {
        char text[ADDR_TEXT_MAX];
        if (l->names[i].place < 0)
            printf("%s %.*s\n", addr_format(&l->names[i].addr, text), SPAN_ARG(l->names[i].host));
    }
}

/* Which hub each site is nearest to, by the map: what delegation is judged by. hq is no agent. */
static void show_nearest(const struct lab *l)
{
    for (size_t i = 0; i < l->site_count; i++) {
        const struct lab_site *s = &l->sites[i];
        unsigned at, best = 0;
        double best_ms = -1;
        if (!map_at(l->map, s->addr4.family ? &s->addr4 : &s->addr6, &at))
            continue;
        for (unsigned j = 0; j < map_place_count(l->map); j++) {
            const struct map_place *p = map_place(l->map, j);
            double ms = (double)map_path(l->map, at, j).rtt_ms;
            bool may = p->hub >= 0 && !span_is(p->name, "hq") && p->node != map_place(l->map, at)->node;
            if (may && (best_ms < 0 || ms < best_ms)) {
                best = j;
                best_ms = ms;
            }
        }
        if (best_ms >= 0)
            printf("%.*s\t%.*s\t%.2f\n", SPAN_ARG(s->host), SPAN_ARG(map_place(l->map, best)->name), best_ms);
    }
}

int command_show(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*fn)(const struct lab *l);
    } kinds[] = {{"places", show_places},
                 {"sites", show_sites},
                 {"seeds", show_seeds},
                 {"hosts", show_hosts},
                 {"nearest", show_nearest}};
    struct lab lab;
    for (size_t i = 0; argc == 3 && i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (strcmp(argv[1], kinds[i].name) != 0)
            continue;
        if (command_load(argv[2], &lab) != ST_OK)
            return EXIT_INPUT;
        kinds[i].fn(&lab);
        lab_done(&lab);
        return fflush(stdout) == 0 ? EXIT_DONE : EXIT_IO;
    }
    return command_fail(EXIT_USAGE, "show places|sites|seeds|hosts|nearest FILE");
}
