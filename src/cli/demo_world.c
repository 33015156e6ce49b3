#include "cli/demo_world.h"

#include <errno.h>
#include <string.h>

#include "io/registry_files.h"
#include "place/cities.h"
#include "sim/world_model.h"
#include "store/file.h"

#define SEED 7

struct place {
    const char *name, *city; /* city: as cities.h has it */
    const char *holder;      /* of the network; NULL: one of its own */
    const char *country;     /* where that is registered; NULL: where the city is */
};

/* The first three are far apart. */
#define AT(n, c)                 \
    {                            \
        .name = (n), .city = (c) \
    }
static const struct place agent_places[DEMO_AGENTS_MAX] = {AT("frankfurt", "Frankfurt am Main"),
                                                           AT("new-york", "New York City"),
                                                           AT("tokyo", "Tokyo"),
                                                           AT("sao-paulo", "São Paulo"),
                                                           AT("sydney", "Sydney"),
                                                           AT("johannesburg", "Johannesburg"),
                                                           AT("mumbai", "Mumbai"),
                                                           AT("los-angeles", "Los Angeles"),
                                                           AT("dubai", "Dubai"),
                                                           AT("london", "London"),
                                                           AT("jakarta", "Jakarta"),
                                                           AT("moscow", "Moscow"),
                                                           AT("mexico-city", "Mexico City"),
                                                           AT("stockholm", "Stockholm"),
                                                           AT("lagos", "Lagos, NG"),
                                                           AT("santiago", "Santiago, CL")};

#define CLOUD "Cumulus Hosting"
static const struct place site_places[] = {
    AT("lisbon", "Lisbon"),
    AT("oslo", "Oslo"),
    AT("istanbul", "Istanbul"),
    AT("cairo", "Cairo"),
    AT("nairobi", "Nairobi"),
    AT("toronto", "Toronto"),
    {.name = "chicago", .city = "Chicago", .holder = CLOUD},
    AT("lima", "Lima"),
    AT("seoul", "Seoul"),
    AT("osaka", "Osaka"),
    AT("auckland", "Auckland"),
    /* Its owner is a company of another country: that tells less than it seems. */
    {.name = "singapore", .city = "Singapore", .holder = CLOUD, .country = "US"},
};
#define SITES (sizeof(site_places) / sizeof(*site_places))

struct texts {
    struct buf agents, sites, networks, model;
};

static void put_network(struct buf *out, unsigned octet, const struct place *p, const struct city *c)
{
    buf_printf(out, "45.%u.0.0/24\t%s\t%s%s\n", octet, p->country ? p->country : c->country,
               p->holder ? p->holder : "Net of ", p->holder ? "" : p->name);
}

static status write_texts(const struct cities *cities, struct texts *t, struct demo_agent *agents, unsigned count)
{
    struct model_opts o;
    model_defaults(SEED, &o);
    struct model *model = model_new(&o);
    status st = ST_OK;
    buf_puts(&t->agents, "name\tip\tcountry\tlat\tlon\n");
    buf_puts(&t->sites, "host\tip\tcountry\tlat\tlon\tholder\tpages\tbytes_per_page\tchanges_per_day\timportance\t"
                        "anycast\n");
    buf_puts(&t->networks, "prefix\tcountry\tholder\n");
    for (unsigned i = 0; i < count + SITES; i++) {
        bool is_agent = i < count;
        const struct place *p = is_agent ? &agent_places[i] : &site_places[i - count];
        const struct city *c = cities_named(cities, span_str(p->city));
        unsigned octet = 64 + i;
        if (!c) {
            st = ST_NOT_FOUND;
            break;
        }
        put_network(&t->networks, octet, p, c);
        buf_printf(is_agent ? &t->agents : &t->sites, "%s%s\t45.%u.0.10\t%s\t%.4f\t%.4f", p->name,
                   is_agent ? "" : ".example", octet, c->country, (double)c->spot.latitude, (double)c->spot.longitude);
        if (is_agent)
            agents[i] = (struct demo_agent){.name = p->name, .place = p->city, .has_spot = true, .spot = c->spot};
        else
            buf_printf(&t->sites, "\t%s\t3\t4000\t0.1\t1\t0", p->holder ? p->holder : p->name);
        buf_putc(is_agent ? &t->agents : &t->sites, '\n');
    }
    model_write(model, &t->model);
    model_free(model);
    return st;
}

static status put_file(const char *dir, const char *name, struct span text)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s", dir, name);
    status st = file_replace(buf_cstr(&path), text);
    buf_done(&path);
    return st;
}

static status put_hierarchy(const char *dir)
{
    struct hierarchy_builder *b = hierarchy_builder_new();
    struct hierarchy_figures figures;
    struct registry_file file;
    struct buf path = {0}, bytes = {0};
    buf_printf(&path, "%s/world/networks.tsv", dir);
    status st = registry_file_add(b, buf_cstr(&path), &(struct registry_watch){0}, &file);
    if (st == ST_OK)
        st = hierarchy_builder_finish(b, (struct span){0}, &bytes, &figures);
    if (st == ST_OK)
        st = put_file(dir, "hierarchy", buf_span(&bytes));
    hierarchy_builder_free(b);
    buf_done(&path);
    buf_done(&bytes);
    return st;
}

status demo_world_write(const char *dir, struct demo_agent *agents, unsigned count, struct buf *why)
{
    struct texts t = {0};
    struct cities cities = {0};
    struct buf world = {0};
    if (count > DEMO_AGENTS_MAX)
        count = DEMO_AGENTS_MAX;
    buf_printf(&world, "%s/world", dir);
    status st = cities_read(cities_text(), &cities);
    if (st == ST_OK)
        st = write_texts(&cities, &t, agents, count);
    if (st == ST_OK)
        st = file_mkdir(buf_cstr(&world));
    const struct {
        const char *name;
        const struct buf *text;
    } files[] = {
        {"agents.tsv", &t.agents}, {"networks.tsv", &t.networks}, {"model.tsv", &t.model}, {"sites.tsv", &t.sites}};
    for (size_t i = 0; st == ST_OK && i < sizeof(files) / sizeof(*files); i++)
        st = put_file(buf_cstr(&world), files[i].name, buf_span(files[i].text));
    if (st == ST_OK)
        st = put_file(dir, "lab", SPAN("world world\n"));
    if (st == ST_OK)
        st = put_hierarchy(dir);
    if (st != ST_OK)
        buf_printf(why, "write a world to %s: %s", buf_cstr(&world),
                   st == ST_IO || st == ST_FULL ? strerror(errno) : status_name(st));
    buf_done(&t.agents);
    buf_done(&t.sites);
    buf_done(&t.networks);
    buf_done(&t.model);
    buf_done(&world);
    cities_done(&cities);
    return st;
}
