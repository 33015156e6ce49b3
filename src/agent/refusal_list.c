#include "agent/refusal_list.h"

#include "io/entropy.h"
#include "store/file.h"

static const char *path_of(const char *data, struct buf *out)
{
    buf_printf(out, "%s/refused", data);
    return buf_cstr(out);
}

/* Of a table that strangers can fill. Without random bytes its key is a poor one, and it works. */
static struct sip_key draw_key(void)
{
    struct sip_key key = {0};
    if (entropy_draw(&key, sizeof(key)) != ST_OK)
        key.k0 = (uint64_t)(uintptr_t)&key;
    return key;
}

static status read_list(const char *data, struct buf *out)
{
    struct buf path = {0};
    status st = file_read(path_of(data, &path), REFUSED_BYTES_MAX, out);
    buf_done(&path);
    return st == ST_NOT_FOUND ? ST_OK : st;
}

status refusal_list_put(const char *data, const struct refuse_order *o, struct buf *why)
{
    struct buf path = {0}, list = {0};
    struct sip_key key = draw_key();
    struct places *check = places_new(&key);
    status st = o->is_first ? ST_OK : read_list(data, &list);
    buf_put(&list, o->places);
    buf_putc(&list, '\n');
    if (st == ST_OK && list.n > REFUSED_BYTES_MAX)
        st = ST_LIMIT;
    if (st == ST_OK)
        st = places_add_list(check, buf_span(&list), why);
    if (st == ST_OK)
        st = file_replace(path_of(data, &path), buf_span(&list));
    places_free(check);
    buf_done(&path);
    buf_done(&list);
    return st;
}

/* The coordinator's `list`, and the owner's own. */
static status make_set(struct span list, const struct conf *conf, struct places **out)
{
    size_t n;
    struct sip_key key = draw_key();
    struct places *places = places_new(&key);
    const struct span *own = conf_list(conf, CONF_REFUSE_SITE, &n);
    status st = places_add_list(places, list, NULL);
    for (size_t i = 0; st == ST_OK && i < n; i++)
        st = places_add(places, own[i], NULL);
    if (st == ST_OK && places_count(places)) {
        *out = places;
        return ST_OK;
    }
    places_free(places);
    if (st == ST_OK)
        *out = NULL;
    return st;
}

status refusal_list_load(const char *data, const struct conf *conf, struct places **out)
{
    struct buf list = {0};
    status st = read_list(data, &list);
    if (st == ST_OK)
        st = make_set(buf_span(&list), conf, out);
    buf_done(&list);
    return st;
}

status refusal_list_own(const struct conf *conf, struct places **out)
{
    return make_set((struct span){0}, conf, out);
}
