/* script_api.c - a page as a Lua table, and the four functions by which a script answers. */
#include <lua.h>
#include <lauxlib.h>
#include <math.h>
#include <stdio.h>

#include "base/utf8.h"
#include "mobile/script_internal.h"

/* ---- the page ---- */

static void push_text(lua_State *lua, struct span s)
{
    lua_pushlstring(lua, s.p ? s.p : "", s.n);
}

static void set_text(lua_State *lua, const char *name, struct span s)
{
    push_text(lua, s);
    lua_setfield(lua, -2, name);
}

/* t[name in lower case] = value; the first wins, or all with `join` between. The table is on the top. */
static void set_named(lua_State *lua, struct span name, struct span value, const char *join)
{
    luaL_Buffer b;
    char *lower = luaL_buffinitsize(lua, &b, name.n);
    for (size_t i = 0; i < name.n; i++)
        lower[i] = ascii_lower(name.p[i]);
    luaL_pushresultsize(&b, name.n);
    lua_pushvalue(lua, -1);
    int had = lua_rawget(lua, -3); /* t name old */
    if (had == LUA_TNIL) {
        lua_pop(lua, 1);
        push_text(lua, value);
    } else if (join) {
        lua_pushstring(lua, join);
        push_text(lua, value);
        lua_concat(lua, 3);
    }
    lua_rawset(lua, -3);
}

static void push_headers(lua_State *lua, struct span headers)
{
    struct span line;
    lua_newtable(lua);
    while (span_split(&headers, '\n', &line)) {
        size_t colon = span_find(line, ':', 0);
        if (colon > 0 && colon < line.n)
            set_named(lua, span_cut(line, 0, colon), span_trim(span_from(line, colon + 1)), ", ");
    }
}

static void push_headings(lua_State *lua, const struct program_page *p)
{
    lua_createtable(lua, (int)p->heading_count, 0);
    for (size_t i = 0; i < p->heading_count; i++) {
        lua_createtable(lua, 0, 2);
        lua_pushinteger(lua, p->headings[i].level);
        lua_setfield(lua, -2, "level");
        set_text(lua, "text", p->headings[i].text);
        lua_rawseti(lua, -2, (lua_Integer)i + 1);
    }
}

static void set_rel(lua_State *lua, unsigned rel)
{
    char text[32] = "";
    int n = snprintf(text, sizeof(text), "%s%s%s", rel & REL_NOFOLLOW ? "nofollow " : "", rel & REL_UGC ? "ugc " : "",
                     rel & REL_SPONSORED ? "sponsored " : "");
    set_text(lua, "rel", span_of(text, n > 0 ? (size_t)n - 1 : 0)); /* without the last space */
}

static void push_links(lua_State *lua, const struct program_page *p)
{
    lua_Integer n = 0;
    lua_createtable(lua, (int)p->link_count, 0);
    for (size_t i = 0; i < p->link_count; i++) {
        if (p->links[i].href.n == 0)
            continue;
        lua_createtable(lua, 0, 3);
        set_text(lua, "url", p->links[i].href);
        set_text(lua, "text", p->links[i].text);
        set_rel(lua, p->links[i].rel);
        lua_rawseti(lua, -2, ++n);
    }
}

void script_push_page(lua_State *lua, const struct program_page *p)
{
    luaL_checkstack(lua, 16, NULL);
    lua_createtable(lua, 0, 12);
    set_text(lua, "url", p->url);
    lua_pushinteger(lua, p->http_status);
    lua_setfield(lua, -2, "status");
    set_text(lua, "title", p->title);
    set_text(lua, "description", p->description);
    set_text(lua, "language", p->lang);
    set_text(lua, "text", p->text);
    push_headers(lua, p->headers);
    lua_setfield(lua, -2, "headers");
    push_headings(lua, p);
    lua_setfield(lua, -2, "headings");
    push_links(lua, p);
    lua_setfield(lua, -2, "links");
    lua_newtable(lua);
    for (size_t i = 0; i < p->meta_count; i++)
        set_named(lua, p->metas[i].name, p->metas[i].content, NULL);
    lua_setfield(lua, -2, "meta");
}

/* ---- answers ---- */

static struct script *script_of(lua_State *lua)
{
    return lua_touserdata(lua, lua_upvalueindex(1));
}

static size_t repaired_bytes(struct span s)
{
    size_t bytes = 0;
    for (size_t at = 0; at < s.n;) {
        size_t from = at;
        bool is_valid;
        (void)utf8_next(s, &at, &is_valid);
        bytes += is_valid ? at - from : 3;
    }
    return bytes;
}

void script_put_repaired(struct buf *out, struct span s)
{
    for (size_t at = 0; at < s.n;)
        buf_put_utf8(out, utf8_next(s, &at, NULL));
}

static struct span keep(struct script *s, struct span text)
{
    if (utf8_is_valid(text))
        return arena_copy(&s->arena, text);
    struct buf b = {0};
    script_put_repaired(&b, text);
    struct span kept = arena_copy(&s->arena, buf_span(&b));
    buf_done(&b);
    return kept;
}

#define NUMBER_BYTES 64

/* The value on the top of the stack as text, which lives in `room` or as long as the value. */
static struct span value_text(lua_State *lua, const char *name, char room[NUMBER_BYTES])
{
    size_t n = 0;
    switch (lua_type(lua, -1)) {
    case LUA_TSTRING: {
        const char *p = lua_tolstring(lua, -1, &n);
        return span_of(p, n);
    }
    case LUA_TBOOLEAN:
        return lua_toboolean(lua, -1) ? SPAN("true") : SPAN("false");
    case LUA_TNUMBER:
        if (lua_isinteger(lua, -1))
            n = (size_t)snprintf(room, NUMBER_BYTES, "%lld", (long long)lua_tointeger(lua, -1));
        else if (isfinite(lua_tonumber(lua, -1)))
            n = (size_t)snprintf(room, NUMBER_BYTES, "%.14g", (double)lua_tonumber(lua, -1));
        else
            luaL_error(lua, "emit: %s is no finite number", name);
        return span_of(room, n);
    default:
        luaL_error(lua, "emit: %s is a %s, not a text, number or boolean", name, luaL_typename(lua, -1));
        return (struct span){0};
    }
}

/* Raises an error for what may not be emitted, before anything is kept of it. */
static void check_fields(lua_State *lua, const struct script *s)
{
    size_t count = s->field_count, bytes = s->field_bytes;
    for (lua_pushnil(lua); lua_next(lua, 1); lua_pop(lua, 1)) {
        char room[NUMBER_BYTES];
        size_t n = 0;
        const char *name = lua_type(lua, -2) == LUA_TSTRING ? lua_tolstring(lua, -2, &n) : NULL;
        if (!name)
            luaL_error(lua, "emit: a field's name is a %s: write emit{name = value}", luaL_typename(lua, -2));
        if (!program_field_name_is_good(span_of(name, n)))
            luaL_error(lua, "emit: bad name: up to %d lower case letters, digits and _", PROGRAM_FIELD_NAME_MAX);
        size_t size = repaired_bytes(value_text(lua, name, room));
        if (size > PROGRAM_FIELD_MAX)
            luaL_error(lua, "emit: %s is longer than %d bytes", name, PROGRAM_FIELD_MAX);
        bytes += size;
        if (++count > PROGRAM_FIELDS_MAX)
            luaL_error(lua, "emit: more than %d fields", PROGRAM_FIELDS_MAX);
        if (bytes > PROGRAM_EMIT_MAX)
            luaL_error(lua, "emit: more than %d bytes in all", (int)PROGRAM_EMIT_MAX);
    }
}

/* By name, because the order of a Lua table changes from one process to the next. */
static void insert_field(struct script *s, size_t first, struct program_field f)
{
    size_t at = s->field_count++;
    for (; at > first && span_cmp(s->fields[at - 1].name, f.name) > 0; at--)
        s->fields[at] = s->fields[at - 1];
    s->fields[at] = f;
    s->field_bytes += f.value.n;
}

static int api_emit(lua_State *lua)
{
    struct script *s = script_of(lua);
    size_t first = s->field_count;
    luaL_checktype(lua, 1, LUA_TTABLE);
    lua_settop(lua, 1);
    check_fields(lua, s);
    for (lua_pushnil(lua); lua_next(lua, 1); lua_pop(lua, 1)) {
        char room[NUMBER_BYTES];
        size_t n;
        const char *name = lua_tolstring(lua, -2, &n);
        struct program_field f = {.name = arena_copy(&s->arena, span_of(name, n)),
                                  .value = keep(s, value_text(lua, name, room))};
        insert_field(s, first, f);
    }
    return 0;
}

static int api_follow(lua_State *lua)
{
    struct script *s = script_of(lua);
    size_t n;
    const char *url = luaL_checklstring(lua, 1, &n);
    if (n == 0 || n > PROGRAM_URL_MAX)
        return luaL_error(lua, "follow: a URL has 1 to %d bytes", PROGRAM_URL_MAX);
    if (s->follow_count == PROGRAM_FOLLOW_MAX)
        return luaL_error(lua, "follow: more than %d URLs", PROGRAM_FOLLOW_MAX);
    s->follows[s->follow_count++] = arena_copy(&s->arena, span_of(url, n));
    return 0;
}

static int api_skip(lua_State *lua)
{
    script_of(lua)->is_skipped = true;
    return 0;
}

static int api_summary(lua_State *lua)
{
    struct script *s = script_of(lua);
    size_t n;
    const char *text = luaL_checklstring(lua, 1, &n);
    if (repaired_bytes(span_of(text, n)) > PROGRAM_SUMMARY_MAX)
        return luaL_error(lua, "summary: longer than %d bytes", (int)PROGRAM_SUMMARY_MAX);
    buf_clear(&s->summary);
    script_put_repaired(&s->summary, span_of(text, n));
    s->has_summary = true;
    return 0;
}

void script_api_clear(struct script *s)
{
    arena_reset(&s->arena);
    buf_clear(&s->summary);
    s->is_skipped = s->has_summary = false;
    s->field_count = s->field_bytes = s->follow_count = 0;
}

void script_api_open(struct script *s)
{
    static const luaL_Reg functions[] = {
        {"emit", api_emit}, {"follow", api_follow}, {"skip", api_skip}, {"summary", api_summary}};
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
        lua_pushlightuserdata(s->lua, s);
        lua_pushcclosure(s->lua, functions[i].func, 1);
        lua_setglobal(s->lua, functions[i].name);
    }
}
