#include "mobile/script.h"

#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "mobile/script_internal.h"

#define HOOK_STEPS 1000 /* instructions between two looks at the count */
#define RANDOM_SEED 1   /* the same for every page: the same page gets the same answer */
#define PANIC_EXIT_CODE 70

/* ---- ceilings ---- */

static void *allocate(void *self, void *p, size_t old, size_t size)
{
    struct script *s = self;
    size_t had = p ? old : 0; /* for a new object `old` is its type */
    if (size == 0) {
        free(p);
        s->memory -= had;
        return NULL;
    }
    if (size > had && size - had > s->limits.memory_bytes - s->memory)
        return NULL; /* Lua collects its garbage and tries once more */
    void *q = realloc(p, size);
    if (q)
        s->memory += size - had;
    return q;
}

static struct script *script_of(lua_State *lua)
{
    void *self;
    (void)lua_getallocf(lua, &self);
    return self;
}

static void count_steps(lua_State *lua, lua_Debug *ar)
{
    struct script *s = script_of(lua);
    s->steps += HOOK_STEPS;
    if (s->steps <= s->limits.steps_max && !s->is_over)
        return;
    if (!s->is_over) {
        s->is_over = true;
        /* From here on each instruction fails, so that a script that catches this error gets no further. */
        lua_sethook(lua, count_steps, LUA_MASKCOUNT, 1);
    }
    lua_getinfo(lua, "Sl", ar);
    lua_pushfstring(lua, "%s:%d: more than %I steps", ar->short_src, ar->currentline, (LUAI_UACINT)s->limits.steps_max);
    lua_error(lua);
}

static void start_counting(struct script *s)
{
    s->steps = 0;
    s->is_over = false;
    lua_sethook(s->lua, count_steps, LUA_MASKCOUNT, HOOK_STEPS);
}

/* An error outside any protected call: our fault, or memory is gone before the script was even read. */
static int on_panic(lua_State *lua)
{
    _exit(PANIC_EXIT_CODE);
}

/* ---- errors ---- */

/* The line of the script that is being run: of the innermost function that has lines. */
static void push_line(lua_State *lua)
{
    lua_Debug ar;
    for (int level = 1; lua_getstack(lua, level, &ar); level++) {
        lua_getinfo(lua, "Sl", &ar);
        if (ar.currentline > 0) {
            lua_pushfstring(lua, "%s:%d: ", ar.short_src, ar.currentline);
            return;
        }
    }
    lua_pushliteral(lua, "");
}

/* An error may be any value. Texts have their line already; others are named. */
static int describe_error(lua_State *lua)
{
    if (lua_type(lua, 1) == LUA_TSTRING)
        return 1;
    push_line(lua);
    if (lua_type(lua, 1) == LUA_TNUMBER)
        lua_pushfstring(lua, "error %s", lua_tostring(lua, 1));
    else
        lua_pushfstring(lua, "error that is a %s", luaL_typename(lua, 1));
    lua_concat(lua, 2);
    return 1;
}

static status note_failure(struct script *s, int rc)
{
    size_t n;
    const char *text = rc != LUA_OK && lua_type(s->lua, -1) == LUA_TSTRING ? lua_tolstring(s->lua, -1, &n) : NULL;
    buf_clear(&s->why);
    if (rc == LUA_ERRMEM)
        buf_printf(&s->why, "%s: more than %llu bytes of memory", s->name, (unsigned long long)s->limits.memory_bytes);
    else if (text)
        script_put_repaired(&s->why, span_of(text, n < PROGRAM_WHY_MAX ? n : PROGRAM_WHY_MAX));
    else if (s->is_over)
        buf_printf(&s->why, "%s: more than %llu steps", s->name, (unsigned long long)s->limits.steps_max);
    else
        buf_printf(&s->why, "%s: an error in the handling of an error", s->name);
    return s->is_over || rc == LUA_ERRMEM ? ST_LIMIT : ST_INVALID;
}

/* ---- the libraries ---- */

/* A finaliser would run where no instructions are counted. */
static int set_metatable(lua_State *lua)
{
    luaL_checktype(lua, 1, LUA_TTABLE);
    luaL_argexpected(lua, lua_isnil(lua, 2) || lua_istable(lua, 2), 2, "nil or table");
    if (lua_istable(lua, 2)) {
        lua_pushliteral(lua, "__gc");
        if (lua_rawget(lua, 2) != LUA_TNIL)
            return luaL_error(lua, "a program's metatable has no __gc");
        lua_pop(lua, 1);
    }
    if (luaL_getmetafield(lua, 1, "__metatable") != LUA_TNIL)
        return luaL_error(lua, "cannot change a protected metatable");
    lua_settop(lua, 2);
    lua_setmetatable(lua, 1);
    return 1;
}

static void drop(lua_State *lua, const char *table, const char *const *names)
{
    if (table)
        lua_getglobal(lua, table);
    else
        lua_pushglobaltable(lua);
    for (; *names; names++) {
        lua_pushnil(lua);
        lua_setfield(lua, -2, *names);
    }
    lua_pop(lua, 1);
}

static void open_libraries(struct script *s)
{
    static const luaL_Reg libraries[] = {
        {LUA_GNAME, luaopen_base},       {LUA_STRLIBNAME, luaopen_string}, {LUA_TABLIBNAME, luaopen_table},
        {LUA_MATHLIBNAME, luaopen_math}, {LUA_UTF8LIBNAME, luaopen_utf8},
    };
    static const char *const no_base[] = {"load", "loadfile", "dofile", "collectgarbage", "print", "warn", NULL};
    static const char *const no_string[] = {"dump", NULL};
    static const char *const no_math[] = {"randomseed", NULL};
    for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
        luaL_requiref(s->lua, libraries[i].name, libraries[i].func, 1);
        lua_pop(s->lua, 1);
    }
    lua_getglobal(s->lua, LUA_MATHLIBNAME);
    lua_getfield(s->lua, -1, "randomseed");
    s->seed_ref = luaL_ref(s->lua, LUA_REGISTRYINDEX);
    lua_pop(s->lua, 1);
    drop(s->lua, NULL, no_base);
    drop(s->lua, LUA_STRLIBNAME, no_string);
    drop(s->lua, LUA_MATHLIBNAME, no_math);
    lua_pushcfunction(s->lua, set_metatable);
    lua_setglobal(s->lua, "setmetatable");
    script_api_open(s);
}

static void seed_random(struct script *s)
{
    lua_rawgeti(s->lua, LUA_REGISTRYINDEX, s->seed_ref);
    lua_pushinteger(s->lua, RANDOM_SEED);
    lua_call(s->lua, 1, 0);
}

/* ---- start ---- */

static int start(lua_State *lua) /* (script's source) */
{
    struct script *s = script_of(lua);
    const struct span *source = lua_touserdata(lua, 1);
    char chunk[PROGRAM_WHY_MAX];
    open_libraries(s);
    seed_random(s);
    snprintf(chunk, sizeof(chunk), "=%s", s->name); /* '=': shown as it is in errors */
    if (luaL_loadbufferx(lua, source->p, source->n, chunk, "t") != LUA_OK)
        return lua_error(lua);
    start_counting(s);
    lua_call(lua, 0, 0);
    if (lua_getglobal(lua, "page") != LUA_TFUNCTION)
        return luaL_error(lua, "%s: there is no function page(p)", s->name);
    s->page_ref = luaL_ref(lua, LUA_REGISTRYINDEX);
    return 0;
}

/* Calls `fn` with one pointer, protected. */
static int call(struct script *s, lua_CFunction fn, const void *arg)
{
    lua_settop(s->lua, 0);
    lua_pushcfunction(s->lua, describe_error);
    lua_pushcfunction(s->lua, fn);
    lua_pushlightuserdata(s->lua, (void *)(uintptr_t)arg);
    return lua_pcall(s->lua, 1, 0, 1);
}

status script_new(const struct script_limits *limits, struct span name, struct span source, struct script **out,
                  struct buf *why)
{
    struct script *s = mem_alloc(sizeof(*s));
    s->limits = *limits;
    s->name = mem_str(name);
    arena_init(&s->arena);
    s->lua = lua_newstate(allocate, s);
    status st = ST_LIMIT;
    if (!s->lua) {
        buf_printf(&s->why, "%s: too little memory to start with", s->name);
    } else {
        lua_atpanic(s->lua, on_panic);
        int rc = call(s, start, &source);
        st = rc == LUA_OK && !s->is_over ? ST_OK : note_failure(s, rc);
    }
    if (st == ST_OK) {
        *out = s;
        return ST_OK;
    }
    if (why)
        buf_put(why, buf_span(&s->why));
    script_free(s);
    return st;
}

void script_free(struct script *s)
{
    if (!s)
        return;
    if (s->lua)
        lua_close(s->lua);
    buf_done(&s->why);
    buf_done(&s->summary);
    arena_done(&s->arena);
    free((char *)(uintptr_t)s->name);
    free(s);
}

/* ---- a page ---- */

static int ask(lua_State *lua) /* (page) */
{
    struct script *s = script_of(lua);
    const struct program_page *page = lua_touserdata(lua, 1);
    seed_random(s);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, s->page_ref);
    script_push_page(lua, page);
    start_counting(s);
    lua_call(lua, 1, 0);
    return 0;
}

void script_page(struct script *s, const struct program_page *page, struct program_result *out)
{
    script_api_clear(s);
    start_counting(s);
    int rc = call(s, ask, page);
    if (rc != LUA_OK || s->is_over) {
        status st = note_failure(s, rc);
        lua_settop(s->lua, 0);
        *out = (struct program_result){.st = st, .why = buf_span(&s->why)};
        return;
    }
    *out = (struct program_result){.st = ST_OK,
                                   .is_skipped = s->is_skipped,
                                   .has_summary = s->has_summary,
                                   .summary = buf_span(&s->summary),
                                   .fields = s->fields,
                                   .field_count = s->field_count,
                                   .follows = s->follows,
                                   .follow_count = s->follow_count};
}
